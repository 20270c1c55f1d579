#include "core/model/driver_memory.hpp"

#include <fmt/format.h>

namespace memsweep::model {

bool is_from_driver(ResourceKind resource)
{
    switch (resource) {
    case ResourceKind::pinned:
    case ResourceKind::write_combined:
    case ResourceKind::mapped:
    case ResourceKind::managed:
    case ResourceKind::device:
    case ResourceKind::stream_ordered:
        return true;
    case ResourceKind::malloc:
    case ResourceKind::aligned:
    case ResourceKind::pages:
    case ResourceKind::memfd:
    case ResourceKind::shm:
    case ResourceKind::file:
    case ResourceKind::pmr_new_delete:
    case ResourceKind::pmr_monotonic:
    case ResourceKind::pmr_unsync_pool:
    case ResourceKind::pmr_sync_pool:
    case ResourceKind::null:
        break;
    }
    return false;
}

bool is_on_device(ResourceKind resource)
{
    return resource == ResourceKind::device || resource == ResourceKind::stream_ordered;
}

bool is_beyond_reach(ResourceKind resource)
{
    return resource == ResourceKind::mapped || is_on_device(resource);
}

std::string touch_objection(ResourceKind resource)
{
    if (resource == ResourceKind::null) {
        return "resource \"null\" gives no memory: its arrays can be neither read nor written";
    }
    if (is_beyond_reach(resource)) {
        return fmt::format("resource \"{}\" is memory that the processor does not reach: its arrays can be made with "
                           "\"touch\": \"none\" and dropped, and \"managed\" or \"pinned\" can be touched",
                           name_of(resource));
    }
    return {};
}

std::string zeros_objection(const MemorySpec& memory, const ReleaseSpec& release)
{
    if (!is_beyond_reach(memory.resource)) {
        return touch_objection(memory.resource);
    }
    const bool pool_clears = memory.pool.kind != PoolKind::none &&
                             !(memory.pool.kind == PoolKind::classes && memory.pool.zeros == ZeroRule::fresh);
    if (pool_clears) {
        return fmt::format("this pool clears what it hands out again, and the processor does not reach resource "
                           "\"{}\": it needs \"fill\": \"none\", or a pool of classes with \"zeros\": \"fresh\"",
                           name_of(memory.resource));
    }
    switch (release.mode) {
    case ReleaseMode::pool:
    case ReleaseMode::preallocated:
    case ReleaseMode::tls_cache:
    case ReleaseMode::forward:
    case ReleaseMode::arena:
    case ReleaseMode::arena_autoscale:
    case ReleaseMode::arena_checked:
    case ReleaseMode::stack:
        return fmt::format("mode \"{}\" clears what it hands out again, and the processor does not reach resource "
                           "\"{}\": it needs \"fill\": \"none\"",
                           name_of(release.mode), name_of(memory.resource));
    case ReleaseMode::immediate:
    case ReleaseMode::refcount:
    case ReleaseMode::cycle:
    case ReleaseMode::finalizer:
    case ReleaseMode::cleaner:
    case ReleaseMode::sweep:
    case ReleaseMode::explicit_free:
    case ReleaseMode::must_free:
    case ReleaseMode::unsafe_free:
    case ReleaseMode::finalize_now:
    case ReleaseMode::deferred_batch:
    case ReleaseMode::leak:
        break;
    }
    return {};
}

std::string advice_objection(ResourceKind resource)
{
    if (!is_from_driver(resource)) {
        return {};
    }
    return fmt::format("advises the kernel on pages of the process; resource \"{}\" is a driver's, and a step "
                       "\"transfer\" moves such memory",
                       name_of(resource));
}

std::string driver_objection(const MemorySpec& memory, const SafetySpec& safety)
{
    if (!is_from_driver(memory.resource)) {
        return {};
    }
    if (safety.guard_pages || safety.detect == Detection::unmap) {
        return fmt::format("guard pages and detection by unmapping make mappings of their own, and resource \"{}\" is "
                           "a driver's",
                           name_of(memory.resource));
    }
    if (!is_beyond_reach(memory.resource)) {
        return {};
    }
    if (safety.detect == Detection::quarantine) {
        return fmt::format("detection by quarantine writes into freed memory, and the processor does not reach "
                           "resource \"{}\": \"null\" and \"flag\" can detect there",
                           name_of(memory.resource));
    }
    if (memory.pool.kind != PoolKind::none && memory.pool.zeros == ZeroRule::on_return) {
        return fmt::format("a pool with \"zeros\": \"on_return\" clears what comes back, and the processor does not "
                           "reach resource \"{}\": \"on_take\" and \"fresh\" leave it alone",
                           name_of(memory.resource));
    }
    return {};
}

}  // namespace memsweep::model
