// Counters that one thread writes and any thread may read. Adding to such a counter needs no locked instruction.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/sanitizers.hpp"

namespace memsweep::base {

// Adds to a counter, with relaxed memory order. Only the thread that writes this counter may call it. Cost: one
// instruction on x86-64.
inline void add_own(std::atomic<std::uint64_t>& counter, std::uint64_t amount) noexcept
{
#if defined(__x86_64__) && !MEMSWEEP_THREAD_SANITIZER
    asm("addq %1, %0" : "+m"(counter) : "re"(amount) : "cc");  // GCC makes three instructions from a load and a store
#else
    counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
#endif
}

}  // namespace memsweep::base
