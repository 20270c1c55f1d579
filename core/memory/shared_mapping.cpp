#include "core/memory/shared_mapping.hpp"

#include <cstdint>

#include <sys/mman.h>

#include "core/memory/alignment.hpp"

namespace memsweep::memory {
namespace {

// Of address space without memory behind it: at vm.max_map_count it stays taken, which costs nothing else.
void give_back(void* ptr, std::size_t bytes)
{
    if (bytes != 0) {
        static_cast<void>(::munmap(ptr, bytes));
    }
}

// Addresses without memory behind them; nullptr when there are none left.
std::byte* reserve_aligned(std::size_t bytes, std::size_t alignment, std::size_t page_bytes)
{
    const std::size_t slack = alignment - page_bytes;
    void* const found = ::mmap(nullptr, bytes + slack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (found == MAP_FAILED) {
        return nullptr;
    }
    auto* const start = static_cast<std::byte*>(found);
    const auto address = reinterpret_cast<std::uintptr_t>(start);
    const std::size_t before = round_up(address, alignment) - address;
    give_back(start, before);
    give_back(start + before + bytes, slack - before);
    return start + before;
}

}  // namespace

void* map_shared(int fd, std::size_t bytes, std::size_t alignment, std::size_t page_bytes) noexcept
{
    std::byte* const at = alignment > page_bytes ? reserve_aligned(bytes, alignment, page_bytes) : nullptr;
    if (alignment > page_bytes && at == nullptr) {
        return nullptr;
    }
    void* const ptr = ::mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (at == nullptr ? 0 : MAP_FIXED), fd, 0);
    if (ptr != MAP_FAILED) {
        return ptr;
    }
    give_back(at, at == nullptr ? 0 : bytes);
    return nullptr;
}

}  // namespace memsweep::memory
