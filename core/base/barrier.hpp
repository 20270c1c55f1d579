// Barriers that keep the compiler from optimising away the memory traffic that is being measured.
//
// Sources  seen in this project: malloc + memset(0) became calloc, and malloc + memset + free vanished, so a run meant
//          to touch every page reported no page fault at all.
// Cost     no instruction; the compiler forgets what it knew about memory.
#pragma once

namespace memsweep::base {

// The same pointer, about which the compiler knows nothing: neither where it came from nor what it points at.
template <typename T>
[[nodiscard]] inline T* hide(T* pointer) noexcept
{
    asm volatile("" : "+r"(pointer) : : "memory");
    return pointer;
}

// Makes the compiler carry out all stores so far to the memory that `pointer` reaches.
inline void keep_stores(const void* pointer) noexcept
{
    asm volatile("" : : "r"(pointer) : "memory");
}

}  // namespace memsweep::base
