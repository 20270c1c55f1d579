// Looks at a process at its exit, while the kernel holds it with all its memory still there.
//
// Sources  ptrace(2): PTRACE_SEIZE stops nothing by itself, PTRACE_O_TRACEEXIT stops the main thread early in exit(2),
//          whatever brought it there: exit, _exit, abort, or a signal that kills it. PTRACE_O_TRACEFORK: a child is
//          traced before its first instruction.
// Cost     a thread of ours that sleeps; each signal that the main thread of the process gets is passed on by us, some
//          20 us later. The start of the process takes some 50 us more. Signals that it ignores interrupt its system
//          calls (ptrace(2), BUGS), and nobody else can trace it: neither a debugger nor LeakSanitizer at its exit.
// Errors   os: the kernel does not let us trace the parent (Yama's ptrace_scope, another tracer).
// Threads  `look` is called once, from a thread of this object. Until wait() is true, nobody may wait for the
//          process, nor ask its parent how it ended: its status may still be ours to pass on.
//
// The main thread may end before its process does: by pthread_exit(3), or because another thread executes a program.
// Then is_outlived() is true, and `look` is not called.
//
// A program that is traced before it begins gains no privileges by set-user-id, unless we may trace everybody
// (execve(2)). Leave such programs alone.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>

#include "core/base/expected.hpp"

namespace memsweep::sys {

class ExitStop {
  public:
    // Attaches to the next process that `parent` itself makes. Then it lets `parent` go. `look` gets that process.
    [[nodiscard]] static base::Expected<std::unique_ptr<ExitStop>> attach_to_child_of(pid_t parent,
                                                                                      std::function<void(pid_t)> look);

    ExitStop(const ExitStop&) = delete;
    ExitStop& operator=(const ExitStop&) = delete;
    ~ExitStop();

    // Waits until the process has been looked at, or has ended without that. False: neither happened within this time.
    [[nodiscard]] bool wait(std::chrono::nanoseconds patience) const;
    // Whether another thread still ran 0.3 s after the main thread's end. Call after wait().
    [[nodiscard]] bool is_outlived() const;

  private:
    struct State;
    explicit ExitStop(std::shared_ptr<State> state) : state_{std::move(state)} {}

    std::shared_ptr<State> state_;
};

}  // namespace memsweep::sys
