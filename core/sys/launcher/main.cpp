// memsweep-launch PROGRAM ARGS...: starts the program as a child of memsweep, not of itself, and ends.
//
// The kernel hands the largest resident set of a process down to what it starts (ru_maxrss survives fork and exec), so
// a program that memsweep itself started would seem as large as memsweep. This process is small, and is never
// sanitized, preloaded or linked to anything. Sources  clone(2): CLONE_PARENT; prctl(2): PR_SET_PDEATHSIG; setsid(2).
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/sys/launcher/launch_words.hpp"

namespace {

using memsweep::sys::could_not_launch;
using memsweep::sys::LaunchWord;

void say(const LaunchWord& word)
{
    static_cast<void>(::send(memsweep::sys::launcher_socket, &word, sizeof word, MSG_NOSIGNAL));
}

// A session of its own, so that no terminal's signals reach it and it finds no terminal to wait for.
[[noreturn]] void become(char** argv)
{
    ::setsid();
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::fcntl(memsweep::sys::launcher_socket, F_SETFD, FD_CLOEXEC);
    ::execvp(argv[0], argv);
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
        become(argv + 1);
    }
    const int error = pid < 0 ? errno : 0;
    say({.pid = pid < 0 ? 0 : static_cast<int>(pid),
         .error = error,
         .begun_ns = std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec});
    ::_exit(0);
}
