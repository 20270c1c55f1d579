// Runs a command in the foreground and stops it once, at its end, whatever ends it: exit, _exit, abort, or a signal.
// All its memory is there then, none of its threads runs, and nothing has been given back.
//
// Sources  ptrace(2): PTRACE_SEIZE, PTRACE_O_TRACEEXIT; no right but that over a child of our own is needed.
// Followed its threads, and what it becomes by exec; not the processes that it starts.
// Cost     of tracing some 10 us a signal, a thread that starts or ends, and an exec.
// Errors   os: it cannot be started (`where` is the command); not_supported: ptrace is refused here.
// Threads  the main thread, before there are others: SIGCHLD, SIGINT, SIGTERM, SIGHUP and SIGQUIT stay blocked
//          meanwhile, and the kernel ties tracing to the thread that began it. Wait for no other child meanwhile.
// Ownership  the command ends with us when we are killed (PTRACE_O_EXITKILL).
//
// What the terminal sends (Ctrl-C) reaches the command by itself; what somebody sends to us alone is passed on.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <functional>
#include <optional>

#include "core/base/expected.hpp"
#include "core/sys/child_process.hpp"
#include "core/sys/descriptor.hpp"

namespace memsweep::sys {

// Whether a child may be traced: tried with one.
[[nodiscard]] base::Expected<void> can_trace();

// The moment of which at_end is told. `thread` is one whose /proc folder shows the memory: of a process whose first
// thread has ended, its own shows none.
struct StoppedEnd {
    pid_t process{};
    pid_t thread{};
    int status{};  // as wait(2) has it
};

class StoppedAtEnd {
  public:
    // Runs the command to its end. `at_end` is called while it stands there, at most once: not where the machine kills
    // it too fast for any thread of it to come there.
    [[nodiscard]] static base::Expected<ExitStatus> run(const SpawnOptions& program,
                                                        const std::function<void(const StoppedEnd&)>& at_end);
};

}  // namespace memsweep::sys
