// Runs a command in the foreground and stops it at its end, whether it ends by exit, _exit, abort or a signal. At that
// stop all its memory is still mapped, and none of its threads runs. The command can also be stopped earlier: if it
// asks for a stop by a signal, or if the caller asks for one. Instead of the command itself, a program that the command
// starts can be followed and stopped.
//
// Sources  ptrace(2): PTRACE_SEIZE, PTRACE_O_TRACEEXIT, PTRACE_O_TRACEFORK, PTRACE_INTERRUPT. The only right needed is
//          to trace our own child.
// Followed the threads of one process, and every program that the process becomes by execve; not the processes that it
//          starts. If a program is wanted (ProgramStops::is_wanted), all processes of the command are traced until that
//          program begins. Until then these processes cannot trace others, and set-user-id programs give them no rights
//          (ptrace(2), execve(2)).
// Cost     some 10 us for each signal, execve, and start or end of a thread; some 20 us per thread for a stop. A stop
//          before the end interrupts the system calls that a stop signal interrupts, such as epoll_wait(2): see
//          signal(7).
// Errors   os: the command cannot be started (`where` is the command); not_supported: the kernel refuses ptrace.
// Threads  call from the main thread, because the kernel ties tracing to the thread that began it. SIGCHLD, SIGINT,
//          SIGTERM, SIGHUP and SIGQUIT are blocked in the main thread meanwhile, and other threads must block them too.
//          All children of this process are reaped, so nothing else may wait for a child.
// Ownership  if we are killed, the kernel kills the followed process too (PTRACE_O_EXITKILL).
//
// The terminal sends its signals (Ctrl-C) to the command too. We pass on signals that were sent to us alone, to the
// command and to the followed process. After the end of the command, a signal of the terminal reaches the followed
// process as SIGTERM.
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

// Checks that a child process may be traced, by tracing one. Errors: not_supported, the kernel refuses; os, no child
// could be made.
[[nodiscard]] base::Expected<void> can_trace();

// A stop of the program before its end.
struct StoppedMoment {
    pid_t process{};
    pid_t thread{};  // read the memory in the /proc folder of this thread: the main thread may have ended
    std::chrono::steady_clock::time_point since;  // when memsweep began to stop the threads
};

// The stop at the end of the program. `process`, `thread` and `since` are explained at StoppedMoment.
struct StoppedEnd {
    pid_t process{};
    pid_t thread{};
    int status{};  // how the program ends, as wait(2) gives it
    std::chrono::steady_clock::time_point since;
};

// The callbacks for the followed program. During each call except `meanwhile` and `is_wanted`, all of its threads are
// stopped.
struct ProgramStops {
    // Called whenever a process of the command has executed a program, before the program runs. If it returns true,
    // that process is followed, and there are no further calls. If it has not returned true within 2 s after the
    // command's end, the other callbacks are not called. Absent: the command itself is followed.
    std::function<bool(pid_t process)> is_wanted;

    // Called at most once. It is not called if the program is killed so fast that no thread stops at its exit.
    std::function<void(const StoppedEnd&)> at_end;

    // Called if the program asks for a stop: it queues call_signal to one of its own threads (rt_tgsigqueueinfo(2)).
    // The upper half of the signal's value is call_mark, the lower half is `value`. The program does not get the
    // signal.
    static constexpr int call_signal = SIGURG;
    std::uint32_t call_mark{};  // 0: the program does not ask for stops
    std::function<void(const StoppedMoment&, std::uint32_t value)> at_call;

    // Called every `pause` after the program's execve, while the program runs. True: stop the program and call
    // at_asked. If not all threads have stopped after two seconds, they go on, and at_asked is not called. If is_wanted
    // is given, `meanwhile` is also called with 0: before the wanted program begins, and after its end. Absent: no such
    // stops.
    std::function<bool(pid_t process)> meanwhile;
    std::function<void(const StoppedMoment&)> at_asked;
    std::chrono::nanoseconds pause{};
};

class StoppedAtEnd {
  public:
    // Runs the command. Returns its status when both the command and the followed program have ended.
    [[nodiscard]] static base::Expected<ExitStatus> run(const SpawnOptions& program, const ProgramStops& stops);
};

}  // namespace memsweep::sys
