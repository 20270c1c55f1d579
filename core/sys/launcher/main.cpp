// memsweep-launch PROGRAM ARGS..., whose own name may be the number of its socket: starts the program as a child of
// memsweep, not of itself, and ends.
//
// The kernel hands the largest resident set of a process down to what it starts (ru_maxrss survives fork and exec), so
// a program that memsweep itself started would seem as large as memsweep. This process is small, and is never
// sanitized, preloaded or linked to anything.
//
// It is compiled with musl where there is one, from the C headers alone: glibc asks the processor for its caches
// whenever a program starts, dozens of questions that a hypervisor answers (0.45 ms of each run on a 2-core Xeon VM).
//
// Sources  clone(2): CLONE_PARENT; prctl(2): PR_SET_PDEATHSIG; setsid(2).
// NOLINTBEGIN(modernize-deprecated-headers,hicpp-deprecated-headers)
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
// NOLINTEND(modernize-deprecated-headers,hicpp-deprecated-headers)

#include "core/sys/launcher/launch_words.hpp"

namespace {

using memsweep::sys::could_not_launch;
using memsweep::sys::LaunchWord;

int words = memsweep::sys::launcher_socket;

void say(const LaunchWord& word)
{
    static_cast<void>(::send(words, &word, sizeof word, MSG_NOSIGNAL));
}

// Becomes the file, or says in errno why not. A script without a first line that names its interpreter is the shell's.
void become_file(const char* file, char** all)
{
    static char shell[] = "/bin/sh";
    ::execv(file, all + 1);
    if (errno == ENOEXEC) {
        all[0] = shell;
        all[1] = const_cast<char*>(file);
        ::execv(shell, all);
    }
}

// execvp(3) as glibc has it; musl's leaves such scripts alone. `all` has room for the shell in front of the program.
void become_program(char** all)
{
    const char* const name = all[1];
    const char* folder = ::getenv("PATH");
    folder = folder == nullptr ? "/bin:/usr/bin" : folder;
    if (::strchr(name, '/') != nullptr) {
        return become_file(name, all);
    }
    bool is_refused = false;
    for (bool is_last = *name == '\0'; !is_last;) {
        static char path[PATH_MAX];
        const auto length = static_cast<int>(::strcspn(folder, ":"));
        is_last = folder[length] == '\0';
        if (::snprintf(path, sizeof path, "%.*s%s%s", length, folder, length == 0 ? "" : "/", name) < PATH_MAX) {
            become_file(path, all);
            is_refused = is_refused || errno == EACCES;
            if (errno != EACCES && errno != ENOENT && errno != ENOTDIR) {
                return;
            }
        }
        folder += length + 1;
    }
    errno = is_refused ? EACCES : ENOENT;
}

// A session of its own, so that no terminal's signals reach it and it finds no terminal to wait for; unless it is its
// user's, who waits for it at the terminal.
[[noreturn]] void become(char** all, bool in_foreground)
{
    if (!in_foreground) {
        ::setsid();
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    }
    ::fcntl(words, F_SETFD, FD_CLOEXEC);
    become_program(all);
    say({.pid = 0, .error = errno, .begun_ns = 0});
    ::_exit(could_not_launch);
}

}  // namespace

int main(int argc, char** argv)
{
    char go{};
    if (argc > 0 && ::atoi(argv[0]) > 0) {
        words = ::atoi(argv[0]);
    }
    if (argc < 2 || ::recv(words, &go, 1, 0) != 1) {
        return could_not_launch;
    }
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    const long pid = ::syscall(SYS_clone, CLONE_PARENT | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
    if (pid == 0) {
        become(argv, go == memsweep::sys::launch_in_foreground);
    }
    const int error = pid < 0 ? errno : 0;
    say({.pid = pid < 0 ? 0 : static_cast<int>(pid),
         .error = error,
         .begun_ns = int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec});
    ::_exit(0);
}
