#include "core/memory/fenced_resource.hpp"

#include <algorithm>
#include <cstdint>

#include <sys/mman.h>

#include "core/base/assert.hpp"
#include "core/memory/alignment.hpp"
#include "core/sys/page_ops.hpp"

namespace memsweep::memory {

FencedResource::FencedResource(bool keeps_freed) noexcept : keeps_freed_{keeps_freed}, page_bytes_{sys::page_size()} {}

FencedResource::~FencedResource()
{
    for (const Range& range : kept_) {
        ::munmap(range.start, range.bytes);
    }
}

Allocation FencedResource::allocate(std::size_t bytes, std::size_t alignment) noexcept
{
    if (!is_servable(bytes, alignment) || alignment > page_bytes_) {
        return {nullptr, AllocStatus::bad_request};
    }
    const std::size_t body = round_up(std::max<std::size_t>(bytes, 1), page_bytes_);
    void* const start = ::mmap(nullptr, body + page_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) {
        return {nullptr, AllocStatus::out_of_memory};
    }
    auto* const fence = static_cast<std::byte*>(start) + body;
    if (::mprotect(fence, page_bytes_, PROT_NONE) != 0) {
        ::munmap(start, body + page_bytes_);
        return {nullptr, AllocStatus::out_of_memory};
    }
    return {fence - round_up(bytes, alignment), AllocStatus::ok};
}

FencedResource::Range FencedResource::range_of(void* ptr, std::size_t bytes) const noexcept
{
    const auto address = reinterpret_cast<std::uintptr_t>(ptr);
    const std::uintptr_t last = address + std::max<std::size_t>(bytes, 1) - 1;
    const std::uintptr_t start = bytes == 0 ? address - page_bytes_ : address & ~(std::uintptr_t{page_bytes_} - 1);
    const std::uintptr_t end = bytes == 0 ? address : (last | (page_bytes_ - 1)) + 1;
    return {reinterpret_cast<void*>(start), end - start + page_bytes_};  // NOLINT(performance-no-int-to-ptr)
}

void FencedResource::deallocate(void* ptr, std::size_t bytes, std::size_t /*alignment*/) noexcept
{
    const Range range = range_of(ptr, bytes);
    if (!keeps_freed_) {
        MEMSWEEP_ASSERT(::munmap(range.start, range.bytes) == 0, "a mapping of ours can be unmapped");
        return;
    }
    const bool closed =
        ::madvise(range.start, range.bytes, MADV_DONTNEED) == 0 && ::mprotect(range.start, range.bytes, PROT_NONE) == 0;
    MEMSWEEP_ASSERT(closed, "a mapping of ours can be emptied and closed");
    const std::lock_guard lock{mutex_};
    kept_.push_back(range);
    if (kept_.size() > kept_ranges) {
        ::munmap(kept_.front().start, kept_.front().bytes);
        kept_.pop_front();
    }
}

}  // namespace memsweep::memory
