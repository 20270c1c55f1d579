// Barriers that keep the compiler from optimising away the memory accesses that are measured.
//
// Sources  observed in this project: GCC turned malloc + memset(0) into calloc and removed malloc + memset + free, so a
//          run that should touch every page reported no page faults.
// Cost     no instruction of its own; but after it, the compiler must reload values that it had read from memory.
#pragma once

namespace memsweep::base {

// Returns the pointer unchanged. The compiler no longer knows where it came from or what it points to.
template <typename T>
[[nodiscard]] inline T* hide(T* pointer) noexcept
{
    asm volatile("" : "+r"(pointer) : : "memory");
    return pointer;
}

// Makes the compiler perform all earlier stores to the memory that `pointer` points to.
inline void keep_stores(const void* pointer) noexcept
{
    asm volatile("" : : "r"(pointer) : "memory");
}

}  // namespace memsweep::base
