// memsweep-launch MANNER SOCKET GUARD PROGRAM ARGS...: starts the program, and stays as its guard.
//
// The kernel hands the largest resident set of a process down to what it starts (ru_maxrss survives fork and exec), so
// a program that memsweep itself started would seem as large as memsweep. This process is small, and is never
// sanitized, preloaded or linked to anything.
//
// A program must not outlive memsweep, nor may what it has started, and memsweep may end by SIGKILL. So a guard stands
// between them, in a session of its own: orphans of the program become its children, and when memsweep's end of its
// socket closes it ends them all. The program is started by a third process, the launcher, which waits for the word:
// what counts a process and its children is put on that, so that the guard is not counted.
//
// It is compiled with musl where there is one, from the C headers alone: glibc asks the processor for its caches
// whenever a program starts, dozens of questions that a hypervisor answers (0.45 ms of each run on a 2-core Xeon VM).
//
// Sources  clone(2): CLONE_PARENT; prctl(2): PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER; setsid(2); close_range(2);
//          /proc/PID/task/TID/children (CONFIG_PROC_CHILDREN; without it the program alone ends with its guard).
// NOLINTBEGIN(modernize-deprecated-headers,hicpp-deprecated-headers)
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
// NOLINTEND(modernize-deprecated-headers,hicpp-deprecated-headers)

#include "core/sys/launcher/launch_words.hpp"

namespace {

using namespace memsweep::sys;  // NOLINT(google-build-using-namespace): the words alone

int words = -1;   // to memsweep, about the launch
int orders = -1;  // from memsweep to the guard
bool is_measured = false;
int* program = nullptr;  // its process, in memory that launcher and guard share; 0: none, or it has been taken away

void say(const LaunchWord& word)
{
    static_cast<void>(::send(words, &word, sizeof word, MSG_NOSIGNAL));
}

int64_t now_ns()
{
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
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
[[noreturn]] void become(char** all, int guard)
{
    if (is_measured) {
        ::setsid();
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != guard) {  // it has gone already
            ::_exit(could_not_launch);
        }
    }
    ::fcntl(words, F_SETFD, FD_CLOEXEC);
    become_program(all);
    say({.pid = 0, .error = errno, .begun_ns = 0});
    ::_exit(could_not_launch);
}

// At memsweep's word: a process for the program, whose parent is ours.
void launch(char** all)
{
    char go{};
    if (::recv(words, &go, 1, 0) != 1 || go != launch_go) {
        return;
    }
    const int parent = ::getppid();
    const int64_t begun_ns = now_ns();
    const long pid =
        ::syscall(SYS_clone, CLONE_PARENT | CLONE_PARENT_SETTID | SIGCHLD, nullptr, program, nullptr, nullptr);
    if (pid == 0) {
        become(all, parent);
    }
    say({.pid = pid < 0 ? 0 : static_cast<int>(pid), .error = pid < 0 ? errno : 0, .begun_ns = begun_ns});
}

constexpr int most_processes = 4096;

struct Processes {
    int count;
    int pids[most_processes];
};

void add_children(int process, Processes& all)
{
    static char path[PATH_MAX];
    ::snprintf(path, sizeof path, "/proc/%d/task", process);
    DIR* const tasks = ::opendir(path);
    if (tasks == nullptr) {
        return;
    }
    while (const dirent* const task = ::readdir(tasks)) {
        ::snprintf(path, sizeof path, "/proc/%d/task/%s/children", process, task->d_name);
        FILE* const children = task->d_name[0] == '.' ? nullptr : ::fopen(path, "re");
        int child = 0;
        while (children != nullptr && all.count < most_processes && ::fscanf(children, "%d", &child) == 1) {
            all.pids[all.count++] = child;
        }
        if (children != nullptr) {
            ::fclose(children);
        }
    }
    ::closedir(tasks);
}

// Numbers in /proc are ours: it may be that of another namespace.
bool is_own_proc()
{
    char text[16]{};
    return ::readlink("/proc/self", text, sizeof text - 1) > 0 && ::atoi(text) == ::getpid();
}

// Who descends from the process, parents before children.
const Processes& descendants_of(int process)
{
    static Processes all;
    all.count = 0;
    if (is_own_proc()) {
        add_children(process, all);
    }
    for (int i = 0; i < all.count; ++i) {
        add_children(all.pids[i], all);
    }
    return all;
}

void nap()
{
    constexpr timespec briefly{.tv_sec = 0, .tv_nsec = 200'000};
    ::nanosleep(&briefly, nullptr);
}

// Ends all that descends from us, which orphans do, too, and takes it away.
GuardCleared clear()
{
    constexpr int64_t patience_ns = 5'000'000'000;
    const int64_t deadline = now_ns() + patience_ns;
    GuardCleared cleared{};
    for (bool has_killed = false;; has_killed = true) {
        int status = 0;
        int64_t usage[sizeof GuardEnd::usage / sizeof(int64_t)];
        long ended = 0;
        while ((ended = ::syscall(SYS_wait4, -1, &status, WNOHANG, usage)) > 0) {
            constexpr int ru_maxrss = 4;
            cleared.max_rss_kib = usage[ru_maxrss] > cleared.max_rss_kib ? usage[ru_maxrss] : cleared.max_rss_kib;
            cleared.killed += has_killed && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? 1 : 0;
        }
        if (ended < 0) {
            return cleared;  // none is left
        }
        const Processes& all = descendants_of(::getpid());
        if (now_ns() >= deadline) {
            cleared.survivor = all.count > 0 ? all.pids[0] : *program;
            return cleared;
        }
        for (int i = 0; i < all.count; ++i) {
            ::kill(all.pids[i], SIGKILL);
        }
        if (*program != 0) {  // where the kernel does not tell who descends from us
            ::kill(*program, SIGKILL);
        }
        nap();
    }
}

// Ends the program that we stand beside, and what descends from it now. All are stopped first: one that ends hands its
// children on to somebody else.
void end_beside(int pidfd)
{
    constexpr int most_looks = 100;
    int before = -1;
    for (int i = 0; i < most_looks && ::syscall(SYS_pidfd_send_signal, pidfd, SIGSTOP, nullptr, 0) == 0; ++i) {
        const Processes& all = descendants_of(*program);
        const bool are_all = all.count == before;
        for (int k = 0; k < all.count; ++k) {
            ::kill(all.pids[k], are_all ? SIGKILL : SIGSTOP);
        }
        if (are_all) {
            break;
        }
        before = all.count;
        nap();
    }
    ::syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, nullptr, 0);
}

// Out of everybody's way: no terminal's signals, no descriptor that somebody waits to be closed.
void stand_aside()
{
    ::setsid();
    const auto but = static_cast<unsigned>(orders);
    if (::syscall(SYS_close_range, 0U, but - 1, 0U) != 0 || ::syscall(SYS_close_range, but + 1, ~0U, 0U) != 0) {
        for (unsigned fd = 0; fd < 1024; ++fd) {  // before Linux 5.9, or refused by a sandbox
            if (fd != but) {
                ::close(static_cast<int>(fd));
            }
        }
    }
    static_cast<void>(::chdir("/"));
    ::signal(SIGCHLD, SIG_DFL);
}

// Until memsweep has ended, or ends its side.
void follow_orders()
{
    GuardOrder order{};
    for (ssize_t got = 0; (got = ::recv(orders, &order, sizeof order, 0)) != 0;) {
        if (got < 0 && errno != EINTR) {
            return;
        }
        if (got > 0 && order.what == guard_leave) {
            ::_exit(0);
        }
        if (got > 0 && order.what == guard_wait) {
            GuardEnd end{};
            end.ended = ::syscall(SYS_wait4, order.pid, &end.status, WNOHANG, end.usage) == order.pid ? 1 : 0;
            *program = end.ended != 0 ? 0 : *program;
            static_cast<void>(::send(orders, &end, sizeof end, MSG_NOSIGNAL));
        }
    }
}

[[noreturn]] void guard()
{
    follow_orders();
    const GuardCleared cleared = clear();
    static_cast<void>(::send(orders, &cleared, sizeof cleared, MSG_NOSIGNAL));
    ::_exit(0);
}

[[noreturn]] void guard_beside()
{
    stand_aside();
    const auto pidfd = static_cast<int>(*program != 0 ? ::syscall(SYS_pidfd_open, *program, 0) : -1);
    follow_orders();
    if (pidfd >= 0) {
        end_beside(pidfd);
    }
    ::_exit(0);
}

}  // namespace

int main(int argc, char** argv)
{
    constexpr int first_word = 3;  // behind it stands the program; a script's shell gets that place, too
    if (argc <= first_word + 1) {
        return could_not_launch;
    }
    is_measured = ::strcmp(argv[1], launch_measured) == 0;
    words = ::atoi(argv[2]);
    orders = ::atoi(argv[first_word]);
    void* const shared = ::mmap(nullptr, sizeof *program, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        return could_not_launch;
    }
    program = static_cast<int*>(shared);
    if (::strcmp(argv[1], launch_recorded) == 0) {
        const GuardWord word{.launcher = ::getpid(), .error = 0};
        static_cast<void>(::send(orders, &word, sizeof word, MSG_NOSIGNAL));
        ::fcntl(orders, F_SETFD, FD_CLOEXEC);
        launch(argv + first_word);
        guard_beside();
    }
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    const int launcher = ::fork();
    if (launcher == 0) {
        ::close(orders);
        launch(argv + first_word);
        ::_exit(0);
    }
    const GuardWord word{.launcher = launcher < 0 ? 0 : launcher, .error = launcher < 0 ? errno : 0};
    stand_aside();
    static_cast<void>(::send(orders, &word, sizeof word, MSG_NOSIGNAL));
    guard();
}
