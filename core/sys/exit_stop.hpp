// Stops a process at its exit, while all of its memory is still mapped, and calls a function (`look`) that examines the
// process.
//
// Sources  ptrace(2). PTRACE_SEIZE attaches without stopping the process. PTRACE_O_TRACEFORK: a child is traced before
//          its first instruction. PTRACE_O_TRACEEXIT: the main thread stops early in its exit, whether the cause is
//          exit, _exit, abort, or a signal that kills the process.
// Cost     a sleeping thread of ours, and some 50 us at the start of the process. We pass on each signal that is sent
//          to the main thread of the process. This delays the signal by some 20 us. Even a signal that the process
//          ignores interrupts its system calls (ptrace(2), BUGS). Nothing else can trace the process, neither a
//          debugger nor LeakSanitizer at its exit.
// Errors   os: the kernel does not let us trace `parent` (Yama's ptrace_scope, or another tracer is attached).
// Threads  `look` is called at most once, from a thread of this object. Until wait() returns true, do not wait for the
//          process (waitpid), and do not ask its parent how it ended: the tracer gets the exit status first.
//
// The main thread may end before its process does, by pthread_exit(3) or because another thread calls execve(2). Then
// is_outlived() is true, and `look` is not called.
//
// Do not use this for set-user-id programs. A program that is traced from its start gains no privileges, except if we
// may trace every process (execve(2)).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>

#include "core/base/expected.hpp"

namespace memsweep::sys {

class ExitStop {
  public:
    // Traces `parent` until it forks its next child, then detaches from `parent` and traces the child. `look` gets the
    // child's pid.
    [[nodiscard]] static base::Expected<std::unique_ptr<ExitStop>> attach_to_child_of(pid_t parent,
                                                                                      std::function<void(pid_t)> look);

    ExitStop(const ExitStop&) = delete;
    ExitStop& operator=(const ExitStop&) = delete;
    ~ExitStop();

    // Waits until `look` has returned, or the process has ended without a call of `look`. False: neither happened
    // within `patience`.
    [[nodiscard]] bool wait(std::chrono::nanoseconds patience) const;
    // Whether another thread of the process still ran 0.3 s after the end of the main thread. Call it after wait().
    [[nodiscard]] bool is_outlived() const;

  private:
    struct State;
    explicit ExitStop(std::shared_ptr<State> state) : state_{std::move(state)} {}

    std::shared_ptr<State> state_;
};

}  // namespace memsweep::sys
