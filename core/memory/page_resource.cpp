#include "core/memory/page_resource.hpp"

#include <algorithm>
#include <cstdint>

#include <sys/mman.h>

#include "core/base/assert.hpp"
#include "core/memory/alignment.hpp"
#include "core/sys/page_ops.hpp"

namespace memsweep::memory {
namespace {

constexpr std::size_t huge_page_bytes = 2U << 20;

constexpr int log2_2m = 21;
constexpr int log2_1g = 30;

// 0: base pages.
int reserved_page_log2(model::PageKind kind)
{
    return kind == model::PageKind::huge_2m ? log2_2m : kind == model::PageKind::huge_1g ? log2_1g : 0;
}

// Reserved huge pages are taken from the reserve here, so that a touch finds them.
void* map(std::size_t bytes, model::PageKind kind)
{
    const int log2 = reserved_page_log2(kind);
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (log2 == 0 ? 0 : MAP_HUGETLB | (log2 << MAP_HUGE_SHIFT));
    void* const ptr = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    return ptr == MAP_FAILED ? nullptr : ptr;
}

AllocStatus refusal(model::PageKind kind)
{
    switch (kind) {
    case model::PageKind::huge_2m:
        return AllocStatus::no_huge_pages_2m;
    case model::PageKind::huge_1g:
        return AllocStatus::no_huge_pages_1g;
    case model::PageKind::system:
    case model::PageKind::small:
    case model::PageKind::thp:
        break;
    }
    return AllocStatus::out_of_memory;
}

// The kernel merges neighbouring mappings, so unmapping can need one mapping more than vm.max_map_count allows. The
// memory still goes back then; only the address range stays taken.
void unmap(void* ptr, std::size_t bytes)
{
    if (bytes != 0 && ::munmap(ptr, bytes) != 0) {
        MEMSWEEP_ASSERT(::madvise(ptr, bytes, MADV_DONTNEED) == 0,
                        "a mapping of ours can be neither unmapped nor emptied");
    }
}

// Maps more than is needed and gives back what lies before and after the aligned part.
void* map_aligned(std::size_t bytes, std::size_t alignment, std::size_t page_bytes, model::PageKind kind)
{
    const std::size_t slack = alignment - page_bytes;
    auto* const start = static_cast<std::byte*>(map(bytes + slack, kind));
    if (start == nullptr) {
        return nullptr;
    }
    const auto address = reinterpret_cast<std::uintptr_t>(start);
    const std::size_t before = round_up(address, alignment) - address;
    unmap(start, before);
    unmap(start + before + bytes, slack - before);
    return start + before;
}

}  // namespace

std::size_t page_bytes_of(model::PageKind kind) noexcept
{
    const int log2 = reserved_page_log2(kind);
    return log2 == 0 ? sys::page_size() : std::size_t{1} << log2;
}

PageResource::PageResource(model::PageKind kind) noexcept : kind_{kind}, page_bytes_{page_bytes_of(kind)} {}

std::size_t PageResource::mapping_bytes(std::size_t bytes) const noexcept
{
    return round_up(std::max<std::size_t>(bytes, 1), page_bytes_);
}

std::size_t PageResource::mapping_alignment(std::size_t mapping, std::size_t alignment) const noexcept
{
    const bool huge = kind_ == model::PageKind::thp && mapping >= huge_page_bytes;
    return std::max(alignment, huge ? huge_page_bytes : page_bytes_);
}

void PageResource::advise(void* ptr, std::size_t mapping) const noexcept
{
    switch (kind_) {
    case model::PageKind::system:
    case model::PageKind::huge_2m:
    case model::PageKind::huge_1g:
        return;
    case model::PageKind::small:
        static_cast<void>(::madvise(ptr, mapping, MADV_NOHUGEPAGE));
        return;
    case model::PageKind::thp:
        static_cast<void>(::madvise(ptr, mapping, MADV_HUGEPAGE));
        return;
    }
}

Allocation PageResource::allocate(std::size_t bytes, std::size_t alignment) noexcept
{
    if (!is_servable(bytes, alignment)) {
        return {nullptr, AllocStatus::bad_request};
    }
    const std::size_t mapping = mapping_bytes(bytes);
    const std::size_t aligned = mapping_alignment(mapping, alignment);
    void* const ptr = aligned > page_bytes_ ? map_aligned(mapping, aligned, page_bytes_, kind_) : map(mapping, kind_);
    if (ptr == nullptr) {
        return {nullptr, refusal(kind_)};
    }
    advise(ptr, mapping);
    return {ptr, AllocStatus::ok};
}

Allocation PageResource::allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept
{
    return allocate(bytes, alignment);
}

void PageResource::deallocate(void* ptr, std::size_t bytes, std::size_t /*alignment*/) noexcept
{
    unmap(ptr, mapping_bytes(bytes));
}

}  // namespace memsweep::memory
