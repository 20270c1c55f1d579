#include "core/memory/stack.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/base/assert.hpp"
#include "core/memory/allocator_resources.hpp"
#include "core/memory/class_pool.hpp"
#include "core/memory/node_pools.hpp"
#include "core/memory/page_resources.hpp"
#include "core/memory/range_pool.hpp"
#include "core/model/specs.hpp"
#include "core/sys/numa.hpp"

namespace memsweep::memory {

device::MemoryKind driver_kind(model::ResourceKind resource)
{
    using model::ResourceKind;
    constexpr std::array<std::pair<ResourceKind, device::MemoryKind>, 6> kinds{{
        {ResourceKind::pinned, device::MemoryKind::pinned},
        {ResourceKind::write_combined, device::MemoryKind::write_combined},
        {ResourceKind::mapped, device::MemoryKind::mapped},
        {ResourceKind::managed, device::MemoryKind::managed},
        {ResourceKind::stream_ordered, device::MemoryKind::stream_ordered},
        {ResourceKind::device, device::MemoryKind::device},
    }};
    const auto* const found = std::ranges::find(kinds, resource, &std::pair<ResourceKind, device::MemoryKind>::first);
    MEMSWEEP_ASSERT(found != kinds.end(), "memory that no driver gives");
    return found->second;
}

namespace {

template <typename Resource>
std::unique_ptr<MemoryResource> make_pmr()
{
    return std::make_unique<PmrResource>(std::make_unique<Resource>(std::pmr::new_delete_resource()));
}

// Those that a policy can name.
std::vector<std::uint32_t> nodes_of_pools()
{
    std::vector<std::uint32_t> nodes = sys::nodes_with_memory();
    std::erase_if(nodes, [](std::uint32_t node) { return node >= 64; });
    return nodes.empty() ? std::vector<std::uint32_t>{0} : nodes;
}

// What stands directly on one of the resources `Known`, each of them a final class, has their code compiled in.
template <template <typename> class Above, typename... Known, typename... More>
std::unique_ptr<MemoryResource> make_above(MemoryResource& upstream, More&&... more)
{
    std::unique_ptr<MemoryResource> made;
    const auto try_one = [&]<typename One>(One* known) {
        if (made == nullptr && known != nullptr) {
            made = std::make_unique<Above<One>>(*known, more...);
        }
    };
    (try_one(dynamic_cast<Known*>(&upstream)), ...);
    try_one(&upstream);
    return made;
}

using AllocFree = AllocFreeTurns (*)(MemoryResource&, std::size_t, std::uint64_t) noexcept;

template <typename Resource>
AllocFreeTurns alloc_free_on(MemoryResource& top, std::size_t bytes, std::uint64_t times) noexcept
{
    return alloc_free(static_cast<Resource&>(top), bytes, times);
}

// The loop with the code of `top` compiled in where it is one of the resources `Known`, each of them a final class.
template <typename... Known>
AllocFree alloc_free_of(MemoryResource& top)
{
    AllocFree loop = alloc_free_on<MemoryResource>;
    const auto try_one = [&]<typename One>(const One* known) { loop = known != nullptr ? alloc_free_on<One> : loop; };
    (try_one(dynamic_cast<const Known*>(&top)), ...);
    return loop;
}

bool is_fenced(const model::MemorySpec& spec, const model::SafetySpec& safety)
{
    return spec.resource != model::ResourceKind::null &&
           (safety.detect == model::Detection::unmap || safety.guard_pages);
}

}  // namespace

std::unique_ptr<MemoryResource> make_resource(const model::MemorySpec& spec, device::Runtime* runtime)
{
    switch (spec.resource) {
    case model::ResourceKind::malloc:
        return std::make_unique<MallocResource>();
    case model::ResourceKind::aligned:
        return std::make_unique<AlignedResource>(spec.alignment);
    case model::ResourceKind::pages:
        return std::make_unique<PageResource>(spec.pages);
    case model::ResourceKind::memfd:
        return std::make_unique<SharedResource>(spec.pages);
    case model::ResourceKind::shm:
        return std::make_unique<FileResource>("");
    case model::ResourceKind::file:
        return std::make_unique<FileResource>(spec.path.data());
    case model::ResourceKind::pmr_new_delete:
        return std::make_unique<PmrResource>(nullptr);
    case model::ResourceKind::pmr_monotonic:
        return make_pmr<std::pmr::monotonic_buffer_resource>();
    case model::ResourceKind::pmr_unsync_pool:
        return make_pmr<std::pmr::unsynchronized_pool_resource>();
    case model::ResourceKind::pmr_sync_pool:
        return make_pmr<std::pmr::synchronized_pool_resource>();
    case model::ResourceKind::null:
        return std::make_unique<NullResource>();
    case model::ResourceKind::pinned:
    case model::ResourceKind::write_combined:
    case model::ResourceKind::mapped:
    case model::ResourceKind::managed:
    case model::ResourceKind::device:
    case model::ResourceKind::stream_ordered:
        MEMSWEEP_ASSERT(runtime != nullptr, "a driver's memory without a runtime");
        return std::make_unique<DeviceResource>(*runtime, spec.device, driver_kind(spec.resource));
    }
    MEMSWEEP_ASSERT(false, "a resource kind outside its enumeration");
}

std::unique_ptr<Pool> make_pool(const model::PoolSpec& spec, MemoryResource& upstream, std::size_t page_bytes)
{
    switch (spec.kind) {
    case model::PoolKind::none:
        return nullptr;
    case model::PoolKind::classes:
        if (spec.per_node) {
            return std::make_unique<NodePools>(spec, upstream, nodes_of_pools(), page_bytes);
        }
        return std::make_unique<ClassPool>(spec, upstream);
    case model::PoolKind::best_fit:
    case model::PoolKind::tlsf:
        return std::make_unique<RangePool>(spec, upstream);
    }
    MEMSWEEP_ASSERT(false, "a pool kind outside its enumeration");
}

ResourceStack::ResourceStack(const model::MemorySpec& spec, const model::SafetySpec& safety, Counters& counters,
                             device::Runtime* runtime)
    : resource_{is_fenced(spec, safety) ? std::make_unique<FencedResource>(safety.detect == model::Detection::unmap)
                                        : make_resource(spec, runtime)}
{
    MemoryResource* top = resource_.get();
    if (spec.huge_pages_from_bytes != 0) {
        top = &advising_.emplace(*top, spec.huge_pages_from_bytes);
    }
    const bool placed = spec.populated || spec.locked || spec.numa.policy != model::NumaPolicy::none;
    if (placed && model::maps_pages(spec.resource) && !is_fenced(spec, safety)) {
        top = &placement_.emplace(
            *top, PlacementAdaptor::Wishes{spec.numa, spec.populated, spec.locked, page_bytes_of(spec.pages)});
    }
    if (spec.resource != model::ResourceKind::null) {
        const bool each = model::is_from_driver(spec.resource);
        timing_ = make_above<Timing, MallocResource>(*top, times_, each ? 0 : CallTimes::timed_from_bytes);
        top = timing_.get();
    }
    if (spec.pool.kind != model::PoolKind::none && !is_fenced(spec, safety)) {
        pool_ = make_pool(spec.pool, *top, page_bytes_of(spec.pages));
        top = pool_.get();
        if (spec.pool.trim_interval_ns != 0) {
            maintenance_.emplace(*pool_, spec.pool, system_pressure_gauges());
        }
    }
    if (spec.limit_bytes != 0) {
        top = &limiting_.emplace(*top, spec.limit_bytes);
    }
    if (spec.fail_every != 0) {
        top = &failing_.emplace(*top, spec.fail_every);
    }
    if (safety.detect == model::Detection::quarantine && spec.resource != model::ResourceKind::null) {
        top = &quarantine_.emplace(*top, safety.quarantine_bytes);
    }
    if (spec.accounting == model::Accounting::exact) {
        counting_ = make_above<Counting, Timing<MallocResource>, ClassPool, NullResource>(*top, counters);
        top = counting_.get();
    }
    top_ = top;
    using Malloc = Timing<MallocResource>;
    alloc_free_ =
        alloc_free_of<Malloc, Counting<Malloc>, ClassPool, Counting<ClassPool>, NullResource, Counting<NullResource>>(
            *top);
}

std::string ResourceStack::driver_refusal() const
{
    const auto* const driver = dynamic_cast<const DeviceResource*>(resource_.get());
    return driver == nullptr ? std::string{} : driver->last_refusal();
}

PoolStats ResourceStack::pool_stats() const noexcept
{
    PoolStats stats = pool_ == nullptr ? PoolStats{} : pool_->stats();
    stats.passes = maintenance_ ? maintenance_->passes() : 0;
    return stats;
}

void ResourceStack::reset_pool_counts() noexcept
{
    if (pool_ != nullptr) {
        pool_->reset_counts();
    }
    if (maintenance_) {
        maintenance_->reset_counts();
    }
}

}  // namespace memsweep::memory
