#include "core/memory/node_pools.hpp"

#include <algorithm>

#include <sched.h>

#include "core/base/assert.hpp"
#include "core/sys/numa.hpp"

namespace memsweep::memory {
namespace {

std::uint64_t address_of(const void* block) noexcept
{
    return reinterpret_cast<std::uintptr_t>(block);
}

}  // namespace

std::size_t OwnerMap::place_of(std::uint64_t address) const noexcept
{
    std::size_t place = home_of(address);
    while ((places_[place].load(std::memory_order_acquire) & ~owner_bits) != address) {
        place = (place + 1) % places;
    }
    return place;
}

// Half empty, so that probes stay short and end.
bool OwnerMap::insert(const void* block, std::uint32_t owner) noexcept
{
    const std::uint64_t address = address_of(block);
    MEMSWEEP_ASSERT((address & owner_bits) == 0 && owner < owner_bits, "a block that is no whole page");
    const std::scoped_lock lock{mutex_};
    if (used_ >= places / 2) {
        return false;
    }
    std::size_t place = home_of(address);
    while (places_[place].load(relaxed) > gone) {
        place = (place + 1) % places;
    }
    used_ += places_[place].load(relaxed) == 0 ? 1U : 0U;  // what was erased stays used: probes pass it
    places_[place].store(address | owner, std::memory_order_release);
    return true;
}

void OwnerMap::erase(const void* block) noexcept
{
    const std::scoped_lock lock{mutex_};
    places_[place_of(address_of(block))].store(gone, relaxed);
}

std::uint32_t OwnerMap::owner_of(const void* block) const noexcept
{
    return static_cast<std::uint32_t>(places_[place_of(address_of(block))].load(relaxed) & owner_bits);
}

NodePools::NodePools(const model::PoolSpec& spec, MemoryResource& upstream, const std::vector<std::uint32_t>& nodes,
                     std::size_t page_bytes)
{
    MEMSWEEP_ASSERT(!nodes.empty(), "a machine has memory");
    for (const std::uint32_t node : nodes) {
        const auto part = static_cast<std::uint32_t>(parts_.size());
        part_of_node_[node % part_of_node_.size()] = static_cast<std::uint8_t>(part);
        parts_.push_back(std::make_unique<Part>(spec, upstream, owners_, part, node, page_bytes));
    }
}

ClassPool& NodePools::own_pool() noexcept
{
    unsigned int cpu = 0;
    unsigned int node = 0;
    static_cast<void>(::getcpu(&cpu, &node));
    return parts_[part_of_node_[node % part_of_node_.size()]]->pool;
}

Allocation NodePools::NodeMemory::placed(Allocation made, std::size_t bytes, std::size_t alignment) noexcept
{
    if (made.status != AllocStatus::ok) {
        return made;
    }
    const model::NumaSpec here{model::NumaPolicy::preferred, std::uint64_t{1} << node_};
    AllocStatus status = AllocStatus::ok;
    if (!sys::set_memory_policy(made.ptr, std::max<std::size_t>(bytes, 1), here, page_bytes_)) {
        status = AllocStatus::no_such_node;
    } else if (!owners_.insert(made.ptr, part_)) {
        status = AllocStatus::out_of_memory;
    }
    if (status != AllocStatus::ok) {
        upstream_.deallocate(made.ptr, bytes, alignment);
        return {nullptr, status};
    }
    return made;
}

// Each part keeps its share.
std::uint64_t NodePools::trim(std::uint64_t keep_bytes) noexcept
{
    std::uint64_t released = 0;
    for (const auto& part : parts_) {
        released += part->pool.trim(keep_bytes / parts_.size());
    }
    return released;
}

PoolStats NodePools::stats() const noexcept
{
    PoolStats all;
    for (const auto& part : parts_) {
        const PoolStats one = part->pool.stats();
        for (const auto field : PoolStats::sums) {
            all.*field += one.*field;
        }
        all.idle_bytes += one.idle_bytes;
        all.idle_blocks += one.idle_blocks;
        all.largest_idle_bytes = std::max(all.largest_idle_bytes, one.largest_idle_bytes);
        all.held_bytes += one.held_bytes;
        all.held_bytes_peak += one.held_bytes_peak;
    }
    return all;
}

void NodePools::reset_counts() noexcept
{
    for (const auto& part : parts_) {
        part->pool.reset_counts();
    }
}

void NodePools::age() noexcept
{
    for (const auto& part : parts_) {
        part->pool.age();
    }
}

std::uint64_t NodePools::release_older(std::int64_t since_ns) noexcept
{
    std::uint64_t released = 0;
    for (const auto& part : parts_) {
        released += part->pool.release_older(since_ns);
    }
    return released;
}

}  // namespace memsweep::memory
