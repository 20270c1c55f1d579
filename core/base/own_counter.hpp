// Counters that one thread writes and any thread may read: no locked instruction is needed to add to them.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/sanitizers.hpp"

namespace memsweep::base {

// Adds to a counter from the counter's own thread; relaxed. Cost: one instruction.
inline void add_own(std::atomic<std::uint64_t>& counter, std::uint64_t amount) noexcept
{
#if defined(__x86_64__) && !MEMSWEEP_THREAD_SANITIZER
    asm("addq %1, %0" : "+m"(counter) : "re"(amount) : "cc");  // GCC makes three of a load and a store
#else
    counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
#endif
}

}  // namespace memsweep::base
