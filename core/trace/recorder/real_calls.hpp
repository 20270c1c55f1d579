// The real functions that the recorder's own functions replace. For each of them, the dynamic linker takes the first
// definition that it finds in the libraries after the recorder.
//
// dlsym(3) looks up the functions, and may itself allocate. While it runs, blocks come from a small arena in the
// recorder. These blocks are neither freed nor recorded.
//
// Sources  dlsym(3), RTLD_NEXT.
// Threads  any. The first call finds the functions. If several threads call at the same time, each of them finds the
//          functions.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <pthread.h>
#include <sys/types.h>

namespace memsweep::trace::recorder {

struct RealCalls {
    void* (*malloc)(std::size_t);
    void* (*calloc)(std::size_t, std::size_t);
    void* (*realloc)(void*, std::size_t);
    void (*free)(void*);
    int (*posix_memalign)(void**, std::size_t, std::size_t);
    void* (*aligned_alloc)(std::size_t, std::size_t);
    void* (*memalign)(std::size_t, std::size_t);
    void* (*valloc)(std::size_t);
    void* (*pvalloc)(std::size_t);
    std::size_t (*malloc_usable_size)(void*);
    void* (*mmap)(void*, std::size_t, int, int, int, off_t);
    int (*munmap)(void*, std::size_t);
    void* (*mremap)(void*, std::size_t, std::size_t, int, void*);
    int (*dlclose)(void*);
    int (*pthread_create)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
    void (*leave)(int);  // _exit; null until it is found
};

// find_real_calls() fills this table. Until then, every entry except `leave` is a function that calls find_real_calls()
// first.
// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): constinit
extern __attribute__((visibility("hidden"))) RealCalls real;
void find_real_calls() noexcept;
[[nodiscard]] bool has_real_calls() noexcept;

inline constexpr std::size_t arena_bytes = 128 << 10;
inline constexpr std::size_t arena_alignment = 64;  // this many bytes precede a block; the last of them hold its size
// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): zeroes
extern __attribute__((visibility("hidden"))) std::array<unsigned char, arena_bytes> arena;

// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): constinit
extern __attribute__((visibility("hidden"))) std::atomic<std::size_t> arena_used;
[[nodiscard]] inline bool arena_is_used() noexcept
{
    return arena_used.load(std::memory_order_relaxed) != 0;
}
[[nodiscard]] inline bool in_arena(const void* block) noexcept
{
    return reinterpret_cast<std::uintptr_t>(block) - reinterpret_cast<std::uintptr_t>(arena.data()) < arena_bytes;
}
[[nodiscard]] std::size_t arena_block_bytes(const void* block) noexcept;

}  // namespace memsweep::trace::recorder
