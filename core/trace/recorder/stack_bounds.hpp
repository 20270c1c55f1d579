// Finds where a stack ends, so that nothing beyond it is read. The stack may be the thread's own, a signal's or a
// coroutine's.
//
// Sources  own_mappings.hpp, sigaltstack(2), mincore(2), RLIMIT_STACK of getrlimit(2).
// Cost     that of a look for a mapping; for another stack than the thread's, a system call or two.
// Memory   none: `room` is used meanwhile.
// Threads  any; async-signal-safe.
#pragma once

#include <cstdint>
#include <span>

namespace memsweep::trace::recorder {

struct Bounds {
    std::uint64_t low{};
    std::uint64_t high{};
    [[nodiscard]] bool holds(std::uint64_t address) const noexcept { return address - low < high - low; }
    // Whether a word lies within.
    [[nodiscard]] bool holds_word(std::uint64_t address) const noexcept
    {
        return address >= low && address + sizeof(address) <= high && address % sizeof(address) == 0;
    }
};

// Whether the thread is on the stack that it has given to signals.
[[nodiscard]] bool is_on_signal_stack() noexcept;

// The thread's own stack. The thread must be on it. Empty: not known.
[[nodiscard]] Bounds thread_bounds(std::uint64_t at, std::span<char> room) noexcept;

// A signal's stack, or a coroutine's. It is looked at each time, because it may have gone meanwhile. `mapping`: what
// was found the last time.
[[nodiscard]] Bounds other_bounds(Bounds& mapping, std::uint64_t at, std::span<char> room) noexcept;

}  // namespace memsweep::trace::recorder
