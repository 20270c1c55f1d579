// Runs a piece of code that may touch inaccessible memory and comes back when it does.
//
// Sources  sigaction(2), siglongjmp(3): SIGSEGV and SIGBUS are delivered to the thread that caused them.
// Cost     the first use installs handlers for the process; then about 20 ns per call.
// Threads  each thread has its own trap; a fault outside of any trap has its former effect.
// Errors   the code must not hold locks or own anything when it faults: nothing is unwound.
#pragma once

namespace memsweep::sys {

struct Trapped {
    bool faulted{};
    const void* address{};  // that was touched
};

[[nodiscard]] Trapped run_trapped(void (*code)(void* context), void* context);

// The same for a callable.
template <typename Code>
[[nodiscard]] Trapped trapped(const Code& code)
{
    const Code* place = &code;
    return run_trapped([](void* context) { (**static_cast<const Code**>(context))(); }, &place);
}

}  // namespace memsweep::sys
