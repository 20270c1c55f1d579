// Runs a command in the foreground and stops it at its end, whether it ends by exit, _exit, abort or a signal. At this
// stop, all memory of the command is still mapped, and none of its threads runs. The command can also be stopped before
// its end: if it asks for a stop by a signal, or if the caller asks for one. Instead of the command itself, a program
// that the command starts can be followed and stopped in the same ways.
//
// Sources  ptrace(2): PTRACE_SEIZE, PTRACE_O_TRACEEXIT, PTRACE_O_TRACEFORK, PTRACE_INTERRUPT. The only right that is
//          needed is to trace our own child.
// Followed the threads of one process, and every program that this process executes by execve. Processes that it starts
//          are not followed. If a program is wanted (ProgramStops::is_wanted), all processes of the command are traced
//          until this program begins. Until then, these processes cannot trace other processes, and set-user-ID
//          programs run without their extra rights (ptrace(2), execve(2)).
// Cost     some 10 us for each signal, execve, and start or end of a thread; some 20 us per thread for a stop. A stop
//          before the end interrupts some system calls, such as epoll_wait(2): those that SIGSTOP interrupts
//          (signal(7)).
// Errors   os: the command cannot be started (`where` is the command); not_supported: the kernel refuses ptrace.
// Threads  call from the main thread, because the kernel ties tracing to the thread that began it. During the call,
//          SIGCHLD, SIGINT, SIGTERM, SIGHUP and SIGQUIT are blocked in the main thread, and all other threads must
//          block them too. The call reaps all children of this process, so no other code may wait for a child.
// Ownership  if we are killed, the kernel kills the followed process too (PTRACE_O_EXITKILL).
//
// The terminal sends its signals (Ctrl-C) to the command too. A signal that was sent only to memsweep is passed on to
// the command and to the followed process. After the end of the command, memsweep sends SIGTERM to the followed process
// when the terminal sends a signal.
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

// Checks that a child process may be traced: forks a child and traces it. Errors: not_supported: the kernel refuses;
// os: no child process could be made.
[[nodiscard]] base::Expected<void> can_trace();

// A stop of the program before its end.
struct StoppedMoment {
    pid_t process{};
    pid_t thread{};  // read the memory by the /proc folder of this thread, because the main thread may have ended
    std::chrono::steady_clock::time_point since;  // when memsweep began to stop the threads
};

// The stop at the end of the program. `process`, `thread` and `since` are explained at StoppedMoment.
struct StoppedEnd {
    pid_t process{};
    pid_t thread{};
    int status{};  // how the program ends, as wait(2) gives it
    std::chrono::steady_clock::time_point since;
};

// The callbacks for the followed program. During each callback except `meanwhile` and `is_wanted`, all threads of the
// followed program are stopped.
struct ProgramStops {
    // Called whenever a process of the command has executed a program (execve), before the program runs. True: this
    // process is followed, and `is_wanted` is not called again. If `is_wanted` has not returned true by 2 s after the
    // command's end, at_end, at_call and at_asked are never called. Absent: the command itself is followed.
    std::function<bool(pid_t process)> is_wanted;

    // Called at most one time, at the stop at the program's end. Not called if the program is killed so fast that none
    // of its threads stops at its exit.
    std::function<void(const StoppedEnd&)> at_end;

    // Called when the program asks for a stop. To ask, the program queues call_signal to one of its own threads
    // (rt_tgsigqueueinfo(2)). The upper half of the signal's value is call_mark, the lower half is `value`. memsweep
    // takes the signal, and the program does not see it.
    static constexpr int call_signal = SIGURG;
    std::uint32_t call_mark{};  // 0: the program does not ask for stops
    std::function<void(const StoppedMoment&, std::uint32_t value)> at_call;

    // Called once per `pause` while the program runs, from its execve on. If `meanwhile` returns true, the program is
    // stopped and at_asked is called. If some threads have not stopped after two seconds, all threads run on, and
    // at_asked is not called. If is_wanted is given, `meanwhile` is also called before the wanted program begins and
    // after its end, with the argument 0. Absent: the caller asks for no stops.
    std::function<bool(pid_t process)> meanwhile;
    std::function<void(const StoppedMoment&)> at_asked;
    std::chrono::nanoseconds pause{};
};

class StoppedAtEnd {
  public:
    // Runs the command. Returns the command's status after both the command and the followed program have ended.
    [[nodiscard]] static base::Expected<ExitStatus> run(const SpawnOptions& program, const ProgramStops& stops);
};

}  // namespace memsweep::sys
