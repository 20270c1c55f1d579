#include "core/trace/recorder/real_calls.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include <dlfcn.h>

namespace memsweep::trace::recorder {
namespace {

// Zeroed, as all of the arena is handed out once.
void* from_arena(std::size_t bytes) noexcept
{
    const std::size_t whole = (bytes + 2 * arena_alignment - 1) / arena_alignment * arena_alignment;
    const std::size_t at = whole < bytes ? arena_bytes : arena_used.fetch_add(whole, std::memory_order_relaxed);
    if (at > arena_bytes || whole > arena_bytes - at) {
        errno = ENOMEM;
        return nullptr;
    }
    unsigned char* const block = arena.data() + at + arena_alignment;
    std::memcpy(block - sizeof bytes, &bytes, sizeof bytes);
    return block;
}

__thread bool finding __attribute__((tls_model("initial-exec"))) = false;

template <typename Function>
void find(Function& into, const char* name) noexcept
{
    if (void* const found = ::dlsym(RTLD_NEXT, name)) {
        std::memcpy(&into, &found, sizeof found);
    }
}

void* early_malloc(std::size_t bytes)
{
    if (finding) {
        return from_arena(bytes);
    }
    find_real_calls();
    return real.malloc(bytes);
}

void* early_calloc(std::size_t count, std::size_t bytes)
{
    if (finding) {
        std::size_t all{};
        return __builtin_mul_overflow(count, bytes, &all) ? nullptr : from_arena(all);
    }
    find_real_calls();
    return real.calloc(count, bytes);
}

void* early_realloc(void* block, std::size_t bytes)
{
    if (finding) {
        void* const moved = from_arena(bytes);
        if (moved != nullptr && block != nullptr && in_arena(block)) {
            std::memcpy(moved, block, std::min(bytes, arena_block_bytes(block)));
        }
        return moved;
    }
    find_real_calls();
    return real.realloc(block, bytes);
}

void early_free(void* block)
{
    if (!finding) {
        find_real_calls();
        real.free(block);
    }
}

// What every other entry leads to first; `refusal` is the answer where the next library has no such function.
template <auto member, auto refusal>
struct Early;

template <typename Result, typename... Arguments, Result (*RealCalls::*member)(Arguments...), auto refusal>
struct Early<member, refusal> {
    static Result call(Arguments... arguments)
    {
        find_real_calls();
        return real.*member == call ? static_cast<Result>(refusal) : (real.*member)(arguments...);
    }
};

template <auto member, auto refusal = nullptr>
constexpr auto early = Early<member, refusal>::call;

}  // namespace

alignas(arena_alignment) std::array<unsigned char, arena_bytes> arena;
constinit std::atomic<std::size_t> arena_used{0};

constinit RealCalls real{early_malloc,
                         early_calloc,
                         early_realloc,
                         early_free,
                         early<&RealCalls::posix_memalign, ENOMEM>,
                         early<&RealCalls::aligned_alloc>,
                         early<&RealCalls::memalign>,
                         early<&RealCalls::valloc>,
                         early<&RealCalls::pvalloc>,
                         early<&RealCalls::malloc_usable_size, 0>,
                         early<&RealCalls::mmap>,
                         early<&RealCalls::munmap, -1>,
                         early<&RealCalls::mremap>,
                         early<&RealCalls::dlclose, -1>,
                         early<&RealCalls::pthread_create, EAGAIN>,
                         nullptr};

void find_real_calls() noexcept
{
    if (finding) {
        return;
    }
    finding = true;
    RealCalls found = real;
    find(found.malloc, "malloc");
    find(found.calloc, "calloc");
    find(found.realloc, "realloc");
    find(found.free, "free");
    find(found.posix_memalign, "posix_memalign");
    find(found.aligned_alloc, "aligned_alloc");
    find(found.memalign, "memalign");
    find(found.valloc, "valloc");
    find(found.pvalloc, "pvalloc");
    find(found.malloc_usable_size, "malloc_usable_size");
    find(found.mmap, "mmap");
    find(found.munmap, "munmap");
    find(found.mremap, "mremap");
    find(found.dlclose, "dlclose");
    find(found.pthread_create, "pthread_create");
    find(found.leave, "_exit");
    real = found;
    finding = false;
}

bool has_real_calls() noexcept
{
    return real.malloc != early_malloc;
}

std::size_t arena_block_bytes(const void* block) noexcept
{
    std::size_t bytes{};
    std::memcpy(&bytes, static_cast<const unsigned char*>(block) - sizeof bytes, sizeof bytes);
    return bytes;
}

}  // namespace memsweep::trace::recorder
