// Runs a command in the foreground and stops it at its end, whatever ends it: exit, _exit, abort, or a signal. Then all
// its memory is still there, and none of its threads runs. The command can also be stopped before: when it calls for a
// stop, or when the caller asks for one. A program that the command starts can be followed in its place.
//
// Sources  ptrace(2): PTRACE_SEIZE, PTRACE_O_TRACEEXIT, PTRACE_O_TRACEFORK, PTRACE_INTERRUPT; no right but that over a
//          child of our own is needed.
// Followed the command's threads, and the programs that it becomes by exec; not the processes that it starts. While a
//          wanted program is looked for, all processes of the command are traced. When it is found, the others are let
//          go. Until then they cannot trace others, and gain no rights by set-user-id programs (ptrace(2), execve(2)).
// Cost     tracing: some 10 us a signal, an exec, and a thread that starts or ends. A stop: some 20 us a thread. A stop
//          before the end interrupts the same system calls as a stop signal (signal(7)), such as epoll_wait(2).
// Errors   os: it cannot be started (`where` is the command); not_supported: ptrace is refused here.
// Threads  call from the main thread, because the kernel ties tracing to the thread that began it. SIGCHLD, SIGINT,
//          SIGTERM, SIGHUP and SIGQUIT stay blocked meanwhile, so no thread begun before may take signals. Wait for no
//          other child meanwhile.
// Ownership  if we are killed, the followed process ends with us (PTRACE_O_EXITKILL).
//
// Signals of the terminal (Ctrl-C) reach the command by themselves. Signals sent to us alone are passed on to it, and
// to the followed process too. If the command has ended, signals of the terminal are passed on as SIGTERM.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <optional>

#include "core/base/expected.hpp"
#include "core/sys/child_process.hpp"
#include "core/sys/descriptor.hpp"

namespace memsweep::sys {

// Whether a child may be traced. Tries it with one.
[[nodiscard]] base::Expected<void> can_trace();

// A moment at which the program is stopped. `thread`: a thread whose /proc folder shows the memory; the folder of a
// first thread that has ended shows none. `since`: when the first thread was stopped for it.
struct StoppedMoment {
    pid_t process{};
    pid_t thread{};
    std::chrono::steady_clock::time_point since;
};

struct StoppedEnd {
    pid_t process{};
    pid_t thread{};
    int status{};  // as wait(2) has it
    std::chrono::steady_clock::time_point since;
};

// The callbacks for a program. During each call but `meanwhile`, all of its threads are stopped.
struct ProgramStops {
    // Called for each process of the command that has become another program, before that program runs, until it says
    // yes; that process is followed. If it has said yes to none 2 s after the command's end, the other callbacks are
    // not called. Absent: the command itself is followed.
    std::function<bool(pid_t process)> is_wanted;

    // Called at most once. It is not called if the machine kills the program too fast for any of its threads to get
    // there.
    std::function<void(const StoppedEnd&)> at_end;

    // The program calls by queueing call_signal to a thread of its own (rt_tgsigqueueinfo(2)). The upper half of the
    // value is the mark, the lower half is the message. The signal is not passed on.
    static constexpr int call_signal = SIGURG;
    std::uint32_t call_mark{};  // 0: the program does not call
    std::function<void(const StoppedMoment&, std::uint32_t value)> at_call;

    // Called every `pause` from the program's exec on. True: stop the program, and call at_asked. A stop that takes
    // longer than two seconds is given up. If is_wanted is given, this is also called with 0, before the wanted program
    // begins and after its end. Absent: nobody asks.
    std::function<bool(pid_t process)> meanwhile;
    std::function<void(const StoppedMoment&)> at_asked;
    std::chrono::nanoseconds pause{};
};

class StoppedAtEnd {
  public:
    // Runs the command to its end, and to the end of the program that is followed.
    [[nodiscard]] static base::Expected<ExitStatus> run(const SpawnOptions& program, const ProgramStops& stops);
};

}  // namespace memsweep::sys
