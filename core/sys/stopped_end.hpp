// Runs a command in the foreground and stops it at its end, whatever ends it: exit, _exit, abort, or a signal. All its
// memory is there then, none of its threads runs, and nothing has been given back. It can also be stopped before, when
// it calls for it or when it is asked for.
//
// Sources  ptrace(2): PTRACE_SEIZE, PTRACE_O_TRACEEXIT, PTRACE_INTERRUPT; no right but that over a child of our own is
//          needed.
// Followed its threads, and what it becomes by exec; not the processes that it starts.
// Cost     of tracing some 10 us a signal, a thread that starts or ends, and an exec; of a stop some 20 us a thread. A
//          stop in between interrupts the system calls that signal(7) says a stop signal does, such as epoll_wait(2).
// Errors   os: it cannot be started (`where` is the command); not_supported: ptrace is refused here.
// Threads  the main thread; of others, begun before, none may take signals: SIGCHLD, SIGINT, SIGTERM, SIGHUP and
//          SIGQUIT stay blocked meanwhile, and the kernel ties tracing to the thread that began it. Wait for no other
//          child meanwhile.
// Ownership  the command ends with us when we are killed (PTRACE_O_EXITKILL).
//
// What the terminal sends (Ctrl-C) reaches the command by itself; what somebody sends to us alone is passed on.
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

// Whether a child may be traced: tried with one.
[[nodiscard]] base::Expected<void> can_trace();

// Where it stands. `thread` is one whose /proc folder shows the memory: of a process whose first thread has ended, its
// own shows none. `since`: when the first of its threads was stopped for it.
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

// Who is told of a program. During each call but `meanwhile` all of its threads stand.
struct ProgramStops {
    // At most once: not where the machine kills it too fast for any thread of it to come there.
    std::function<void(const StoppedEnd&)> at_end;

    // The program calls by call_signal, which it queues to a thread of its own (rt_tgsigqueueinfo(2)): the upper half
    // of the value is the mark, the lower one is what it says. The signal ends here.
    static constexpr int call_signal = SIGURG;
    std::uint32_t call_mark{};  // 0: it does not
    std::function<void(const StoppedMoment&, std::uint32_t value)> at_call;

    // Every `pause` from its exec on; true: stop it, and tell at_asked. A stop that takes longer than two seconds is
    // given up. Absent: nobody asks.
    std::function<bool(pid_t process)> meanwhile;
    std::function<void(const StoppedMoment&)> at_asked;
    std::chrono::nanoseconds pause{};
};

class StoppedAtEnd {
  public:
    // Runs the command to its end.
    [[nodiscard]] static base::Expected<ExitStatus> run(const SpawnOptions& program, const ProgramStops& stops);
};

}  // namespace memsweep::sys
