// memsweep-launch PROGRAM ARGS...: starts the program as a child of memsweep, not of itself, and ends.
//
// The kernel hands the largest resident set of a process down to what it starts (ru_maxrss survives fork and exec), so
// a program that memsweep itself started would seem as large as memsweep. This process is small, and is never
// sanitized, preloaded or linked to anything.
//
// It is compiled with musl where there is one, from the C headers alone: glibc asks the processor for its caches
// whenever a program starts, dozens of questions that a hypervisor answers (0.35 ms of each run in a virtual machine).
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

void say(const LaunchWord& word)
{
    static_cast<void>(::send(memsweep::sys::launcher_socket, &word, sizeof word, MSG_NOSIGNAL));
}

// Puts the file that execvp(3) finds under that name into `path`.
bool find_program(const char* name, char (&path)[PATH_MAX])
{
    const char* folders = ::getenv("PATH");
    if (::strchr(name, '/') != nullptr || folders == nullptr) {
        return ::snprintf(path, sizeof path, "%s", name) < PATH_MAX;
    }
    while (*folders != '\0') {
        const auto length = static_cast<int>(::strcspn(folders, ":"));
        if (::snprintf(path, sizeof path, "%.*s%s%s", length, folders, length == 0 ? "" : "/", name) < PATH_MAX &&
            ::access(path, X_OK) == 0) {
            return true;
        }
        folders += length + (folders[length] == ':' ? 1 : 0);
    }
    return false;
}

// A session of its own, so that no terminal's signals reach it and it finds no terminal to wait for. A script without
// a first line that names its interpreter is the shell's, as it is with any execvp(3) but musl's.
[[noreturn]] void become(char** all)
{
    char** const argv = all + 1;
    ::setsid();
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::fcntl(memsweep::sys::launcher_socket, F_SETFD, FD_CLOEXEC);
    ::execvp(argv[0], argv);
    static char path[PATH_MAX];
    static char shell[] = "/bin/sh";
    if (errno == ENOEXEC && find_program(argv[0], path)) {
        all[0] = shell;
        argv[0] = path;
        ::execv(shell, all);
    }
    say({.pid = 0, .error = errno, .begun_ns = 0});
    ::_exit(could_not_launch);
}

}  // namespace

int main(int argc, char** argv)
{
    char go{};
    if (argc < 2 || ::recv(memsweep::sys::launcher_socket, &go, 1, 0) != 1) {
        return could_not_launch;
    }
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    const long pid = ::syscall(SYS_clone, CLONE_PARENT | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
    if (pid == 0) {
        become(argv);
    }
    const int error = pid < 0 ? errno : 0;
    say({.pid = pid < 0 ? 0 : static_cast<int>(pid),
         .error = error,
         .begun_ns = int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec});
    ::_exit(0);
}
