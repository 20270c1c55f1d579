#include "core/memory/adaptors.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <sys/mman.h>

#include "core/base/assert.hpp"
#include "core/memory/alignment.hpp"
#include "core/sys/numa.hpp"
#include "core/sys/page_ops.hpp"

namespace memsweep::memory {

FailingAdaptor::FailingAdaptor(MemoryResource& upstream, std::uint64_t every) noexcept
    : Adaptor{upstream}, every_{every}
{
    MEMSWEEP_ASSERT(every != 0, "a failing adaptor that never fails is left out of the stack");
}

Allocation PlacementAdaptor::placed(Allocation made, std::size_t bytes, std::size_t alignment) noexcept
{
    if (made.status != AllocStatus::ok) {
        return made;
    }
    const AllocStatus status = place(made.ptr, std::max<std::size_t>(bytes, 1));
    if (status != AllocStatus::ok) {
        upstream_.deallocate(made.ptr, bytes, alignment);
        return {nullptr, status};
    }
    return made;
}

// The nodes before anything is touched.
AllocStatus PlacementAdaptor::place(void* ptr, std::size_t bytes) const noexcept
{
    if (wishes_.numa.policy != model::NumaPolicy::none &&
        !sys::set_memory_policy(ptr, bytes, wishes_.numa, wishes_.page_bytes)) {
        return AllocStatus::no_such_node;
    }
    if (wishes_.populated && !sys::populate(ptr, bytes)) {
        return AllocStatus::out_of_memory;
    }
    if (wishes_.locked && ::mlock(ptr, bytes) != 0) {
        return AllocStatus::lock_limit;
    }
    return AllocStatus::ok;
}

HugePageAdaptor::HugePageAdaptor(MemoryResource& upstream, std::uint64_t from_bytes) noexcept
    : Adaptor{upstream}, from_bytes_{from_bytes}, page_bytes_{sys::page_size()}
{
}

void HugePageAdaptor::advise(void* ptr, std::size_t bytes) const noexcept
{
    const auto begin = reinterpret_cast<std::uintptr_t>(ptr);
    const std::uint64_t skipped = round_up(begin, page_bytes_) - begin;
    if (bytes > skipped) {
        static_cast<void>(
            sys::advise(static_cast<std::byte*>(ptr) + skipped, bytes - skipped, sys::Advice::huge_pages));
    }
}

namespace {

bool all_poison(const unsigned char* bytes, std::size_t count)
{
    return count == 0 || (bytes[0] == QuarantineAdaptor::poison && std::memcmp(bytes, bytes + 1, count - 1) == 0);
}

}  // namespace

QuarantineAdaptor::~QuarantineAdaptor()
{
    static_cast<void>(take_broken());
}

void QuarantineAdaptor::deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept
{
    std::memset(ptr, poison, bytes);
    const std::lock_guard lock{mutex_};
    held_.push_back({ptr, bytes, alignment, tag_});
    held_bytes_ += bytes;
    while (held_bytes_ > limit_bytes_) {
        leave(held_.front());
        held_.pop_front();
    }
}

void QuarantineAdaptor::leave(const Held& held)
{
    if (!all_poison(static_cast<const unsigned char*>(held.ptr), held.bytes)) {
        broken_.push_back(held.tag);
    }
    held_bytes_ -= held.bytes;
    upstream_.deallocate(held.ptr, held.bytes, held.alignment);
}

std::vector<std::uint16_t> QuarantineAdaptor::take_broken()
{
    const std::lock_guard lock{mutex_};
    for (; !held_.empty(); held_.pop_front()) {
        leave(held_.front());
    }
    return std::exchange(broken_, {});
}

bool looks_poisoned(const void* ptr, std::size_t bytes) noexcept
{
    const auto* const data = static_cast<const unsigned char*>(ptr);
    const std::size_t edge = std::min<std::size_t>(bytes, 16);
    return bytes != 0 && all_poison(data, edge) && all_poison(data + bytes - edge, edge);
}

}  // namespace memsweep::memory
