// Finds where a stack ends, so that nothing beyond it is read. The stack may be the thread's own, a signal stack or a
// coroutine's.
//
// Sources  own_mappings.hpp, sigaltstack(2), mincore(2), RLIMIT_STACK of getrlimit(2).
// Cost     that of find_own_mapping(); for a stack other than the thread's own, also one or two system calls.
// Memory   only the caller's buffer `room`.
// Threads  any; async-signal-safe.
#pragma once

#include <cstdint>
#include <span>

namespace memsweep::trace::recorder {

struct Bounds {
    std::uint64_t low{};
    std::uint64_t high{};
    [[nodiscard]] bool holds(std::uint64_t address) const noexcept { return address - low < high - low; }
    // Whether an aligned word at this address lies within the bounds.
    [[nodiscard]] bool holds_word(std::uint64_t address) const noexcept
    {
        return address >= low && address + sizeof(address) <= high && address % sizeof(address) == 0;
    }
};

// Whether the thread is running on its alternate signal stack.
[[nodiscard]] bool is_on_signal_stack() noexcept;

// Returns the bounds of the thread's own stack, on which the thread must be running. `at`: an address on this stack.
// Empty: the bounds are not known.
[[nodiscard]] Bounds thread_bounds(std::uint64_t at, std::span<char> room) noexcept;

// Returns the bounds of a signal stack or a coroutine's stack. Every call checks that a coroutine's stack is still
// mapped. Empty: the bounds are not known. `mapping`: the mapping that the last call found; the caller keeps it between
// calls.
[[nodiscard]] Bounds other_bounds(Bounds& mapping, std::uint64_t at, std::span<char> room) noexcept;

}  // namespace memsweep::trace::recorder
