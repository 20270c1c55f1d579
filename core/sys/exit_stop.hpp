// Looks at a process at its exit, while the kernel holds it with all its memory still there.
//
// Sources  ptrace(2): PTRACE_SEIZE stops nothing by itself, PTRACE_O_TRACEEXIT stops the main thread early in exit(2),
//          whatever brought it there: exit, _exit, abort, or a signal that kills it.
// Cost     a thread of ours that sleeps; each signal that the main thread of the process gets is passed on by us, some
//          20 us later. Nothing else in the process changes.
// Errors   os: the kernel does not let us trace the process (Yama's ptrace_scope, a set-user-id program, another
//          tracer).
// Threads  `look` is called once, from a thread of this object. Another thread may not wait for that process meanwhile.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>

#include "core/base/expected.hpp"

namespace memsweep::sys {

class ExitStop {
  public:
    [[nodiscard]] static base::Expected<std::unique_ptr<ExitStop>> attach(pid_t process, std::function<void()> look);

    ExitStop(const ExitStop&) = delete;
    ExitStop& operator=(const ExitStop&) = delete;
    ~ExitStop();

    // Waits until the process has been looked at, or has ended without that. False: neither happened within this time.
    [[nodiscard]] bool wait(std::chrono::nanoseconds patience) const;

  private:
    struct State;
    explicit ExitStop(std::shared_ptr<State> state) : state_{std::move(state)} {}

    std::shared_ptr<State> state_;
};

}  // namespace memsweep::sys
