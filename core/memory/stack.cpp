#include "core/memory/stack.hpp"

#include "core/base/assert.hpp"
#include "core/memory/fenced_resource.hpp"
#include "core/memory/malloc_resource.hpp"
#include "core/memory/null_resource.hpp"
#include "core/memory/page_resource.hpp"
#include "core/memory/pmr_resource.hpp"
#include "core/memory/shared_resource.hpp"
#include "core/model/driver_memory.hpp"

namespace memsweep::memory {

device::MemoryKind driver_kind(model::ResourceKind resource)
{
    switch (resource) {
    case model::ResourceKind::pinned:
        return device::MemoryKind::pinned;
    case model::ResourceKind::write_combined:
        return device::MemoryKind::write_combined;
    case model::ResourceKind::mapped:
        return device::MemoryKind::mapped;
    case model::ResourceKind::managed:
        return device::MemoryKind::managed;
    case model::ResourceKind::stream_ordered:
        return device::MemoryKind::stream_ordered;
    case model::ResourceKind::device:
        return device::MemoryKind::device;
    case model::ResourceKind::malloc:
    case model::ResourceKind::aligned:
    case model::ResourceKind::pages:
    case model::ResourceKind::memfd:
    case model::ResourceKind::shm:
    case model::ResourceKind::file:
    case model::ResourceKind::pmr_new_delete:
    case model::ResourceKind::pmr_monotonic:
    case model::ResourceKind::pmr_unsync_pool:
    case model::ResourceKind::pmr_sync_pool:
    case model::ResourceKind::null:
        break;
    }
    MEMSWEEP_ASSERT(false, "memory that no driver gives");
}

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
    case model::ResourceKind::pmr_monotonic:
    case model::ResourceKind::pmr_unsync_pool:
    case model::ResourceKind::pmr_sync_pool:
        return std::make_unique<PmrResource>(spec.resource);
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

namespace {

bool is_fenced(const model::MemorySpec& spec, const model::SafetySpec& safety)
{
    return spec.resource != model::ResourceKind::null &&
           (safety.detect == model::Detection::unmap || safety.guard_pages);
}

std::unique_ptr<MemoryResource> make_base(const model::MemorySpec& spec, const model::SafetySpec& safety,
                                          device::Runtime* runtime)
{
    if (is_fenced(spec, safety)) {
        return std::make_unique<FencedResource>(safety.detect == model::Detection::unmap);
    }
    return make_resource(spec, runtime);
}

}  // namespace

ResourceStack::ResourceStack(const model::MemorySpec& spec, const model::SafetySpec& safety, Counters& counters,
                             device::Runtime* runtime)
    : resource_{make_base(spec, safety, runtime)}
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
        top = &timing_.emplace(*top, times_, each ? 0 : CallTimes::timed_from_bytes);
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
    counting_.emplace(*top, counters);
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
