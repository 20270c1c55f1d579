#include "core/memory/shared_resource.hpp"

#include <algorithm>
#include <cstdint>

#include <sys/mman.h>
#include <unistd.h>

#include "core/base/assert.hpp"
#include "core/memory/alignment.hpp"
#include "core/memory/shared_mapping.hpp"
#include "core/sys/page_ops.hpp"
#include "core/sys/unique_fd.hpp"

namespace memsweep::memory {
namespace {

constexpr std::size_t huge_page_bytes = 2U << 20;

}  // namespace

SharedResource::SharedResource(model::PageKind kind) noexcept : kind_{kind}, page_bytes_{sys::page_size()} {}

std::size_t SharedResource::mapping_bytes(std::size_t bytes) const noexcept
{
    return round_up(std::max<std::size_t>(bytes, 1), page_bytes_);
}

Allocation SharedResource::allocate(std::size_t bytes, std::size_t alignment) noexcept
{
    if (!is_servable(bytes, alignment)) {
        return {nullptr, AllocStatus::bad_request};
    }
    const std::size_t mapping = mapping_bytes(bytes);
    const bool huge = kind_ == model::PageKind::thp && mapping >= huge_page_bytes;
    const sys::UniqueFd fd{::memfd_create("memsweep-array", MFD_CLOEXEC)};
    if (!fd.valid() || ::ftruncate(fd.get(), static_cast<off_t>(mapping)) != 0) {
        return {nullptr, AllocStatus::out_of_memory};
    }
    void* const ptr =
        map_shared(fd.get(), mapping, std::max(alignment, huge ? huge_page_bytes : page_bytes_), page_bytes_);
    if (ptr == nullptr) {
        return {nullptr, AllocStatus::out_of_memory};
    }
    if (kind_ != model::PageKind::system) {  // refused where huge pages are not built in: then there is none to forbid
        static_cast<void>(::madvise(ptr, mapping, kind_ == model::PageKind::small ? MADV_NOHUGEPAGE : MADV_HUGEPAGE));
    }
    return {ptr, AllocStatus::ok};
}

Allocation SharedResource::allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept
{
    return allocate(bytes, alignment);
}

void SharedResource::deallocate(void* ptr, std::size_t bytes, std::size_t /*alignment*/) noexcept
{
    // A whole mapping of a file of its own: the kernel has merged it with no other and needs none more to remove it.
    MEMSWEEP_ASSERT(::munmap(ptr, mapping_bytes(bytes)) == 0, "a mapping of ours cannot be unmapped");
}

}  // namespace memsweep::memory
