#include "tests/sys/allocation_count.hpp"

#include <atomic>
#include <cstddef>

#include "core/base/sanitizers.hpp"

namespace {

std::atomic<std::uint64_t> allocations{0};

void count_one() noexcept
{
    allocations.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

std::uint64_t memsweep::tests::allocation_count() noexcept
{
    return allocations.load(std::memory_order_relaxed);
}

#if MEMSWEEP_ADDRESS_SANITIZER || MEMSWEEP_THREAD_SANITIZER

// NOLINTNEXTLINE(readability-identifier-naming,bugprone-reserved-identifier): the name is the sanitizers'.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void*, std::size_t),
                                                         void (*on_free)(const volatile void*));

namespace {

[[maybe_unused]] const int installed = __sanitizer_install_malloc_and_free_hooks(
    [](const volatile void* /*ptr*/, std::size_t /*bytes*/) { count_one(); }, [](const volatile void* /*ptr*/) {});

}  // namespace

#else

// glibc's own entry points under other names: ours come first in the order of symbols, for libstdc++ and libc as well.
// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier): the names are the C library's.
extern "C" void* __libc_malloc(std::size_t bytes) noexcept;
extern "C" void* __libc_calloc(std::size_t count, std::size_t bytes) noexcept;
extern "C" void* __libc_realloc(void* ptr, std::size_t bytes) noexcept;
extern "C" void* __libc_memalign(std::size_t alignment, std::size_t bytes) noexcept;

extern "C" void* malloc(std::size_t bytes) noexcept
{
    count_one();
    return __libc_malloc(bytes);
}

extern "C" void* calloc(std::size_t count, std::size_t bytes) noexcept
{
    count_one();
    return __libc_calloc(count, bytes);
}

extern "C" void* realloc(void* ptr, std::size_t bytes) noexcept
{
    count_one();
    return __libc_realloc(ptr, bytes);
}

extern "C" void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept
{
    count_one();
    return __libc_memalign(alignment, bytes);
}
// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier)

#endif
