// The allocation functions that programs find before those of the C library. An allocation is recorded after the real
// call, a release before it, so that no other thread's events can come in between.
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "core/trace/recorder/image.hpp"
#include "core/trace/recorder/real_calls.hpp"
#include "core/trace/recorder/thread_log.hpp"

#define MEMSWEEP_PRELOADED extern "C" __attribute__((visibility("default")))

namespace {

using namespace memsweep::trace::recorder;

std::uint64_t place(const void* block) noexcept
{
    return reinterpret_cast<std::uint64_t>(block);
}

// Blocks from before the real functions were found are nobody's.
bool is_unknown(const void* block) noexcept
{
    return block == nullptr || in_arena(block);
}

template <Call call>
__attribute__((always_inline)) inline void note_allocation(void* block, std::size_t bytes,
                                                           std::size_t alignment = 0) noexcept
{
    if (block == nullptr) [[unlikely]] {
        record<Call::failed_alloc>(0, bytes);
    } else {  // before the real functions are found nothing is recorded
        record<call>(place(block), bytes, alignment);
    }
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier): the C library's names
MEMSWEEP_PRELOADED void* malloc(std::size_t bytes)
{
    void* const block = real.malloc(bytes);
    note_allocation<Call::malloc>(block, bytes);
    return block;
}

MEMSWEEP_PRELOADED void free(void* block)
{
    if (is_unknown(block)) [[unlikely]] {
        return;
    }
    record<Call::free>(place(block));
    real.free(block);
}

MEMSWEEP_PRELOADED void* calloc(std::size_t count, std::size_t bytes)
{
    void* const block = real.calloc(count, bytes);
    std::size_t all = 0;
    if (__builtin_mul_overflow(count, bytes, &all)) [[unlikely]] {
        all = SIZE_MAX;
    }
    note_allocation<Call::calloc>(block, all);
    return block;
}

MEMSWEEP_PRELOADED void* realloc(void* block, std::size_t bytes)
{
    if (block != nullptr && in_arena(block)) [[unlikely]] {
        void* const moved = malloc(bytes);
        if (moved != nullptr) {
            __builtin_memcpy(moved, block, arena_block_bytes(block) < bytes ? arena_block_bytes(block) : bytes);
        }
        return moved;
    }
    prepare_realloc(block);
    void* const moved = real.realloc(block, bytes);
    if (moved == nullptr && (bytes != 0 || block == nullptr)) [[unlikely]] {
        record<Call::failed_alloc>(0, bytes);
    } else if (moved == nullptr || !in_arena(moved)) {
        record<Call::realloc>(place(moved), moved != nullptr ? bytes : 0, place(block));
    }
    return moved;
}

// Libraries differ in whether theirs calls realloc: this one does.
MEMSWEEP_PRELOADED void* reallocarray(void* block, std::size_t count, std::size_t bytes)
{
    std::size_t all = 0;
    if (__builtin_mul_overflow(count, bytes, &all)) {
        errno = ENOMEM;
        return nullptr;
    }
    return realloc(block, all);
}

MEMSWEEP_PRELOADED int posix_memalign(void** into, std::size_t alignment, std::size_t bytes)
{
    const int problem = real.posix_memalign(into, alignment, bytes);
    if (problem != EINVAL) {
        note_allocation<Call::aligned_alloc>(problem == 0 ? *into : nullptr, bytes, alignment);
    }
    return problem;
}

MEMSWEEP_PRELOADED void* aligned_alloc(std::size_t alignment, std::size_t bytes)
{
    void* const block = real.aligned_alloc(alignment, bytes);
    note_allocation<Call::aligned_alloc>(block, bytes, alignment);
    return block;
}

MEMSWEEP_PRELOADED void* memalign(std::size_t alignment, std::size_t bytes)
{
    void* const block = real.memalign(alignment, bytes);
    note_allocation<Call::aligned_alloc>(block, bytes, alignment);
    return block;
}

MEMSWEEP_PRELOADED void* valloc(std::size_t bytes)
{
    void* const block = real.valloc(bytes);
    note_allocation<Call::aligned_alloc>(block, bytes, static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
    return block;
}

// Whole pages are what it gives.
MEMSWEEP_PRELOADED void* pvalloc(std::size_t bytes)
{
    void* const block = real.pvalloc(bytes);
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    note_allocation<Call::aligned_alloc>(block, (bytes + page - 1) / page * page, page);
    return block;
}
// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier)
