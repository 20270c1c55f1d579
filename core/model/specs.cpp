#include "core/model/specs.hpp"

#include <cstddef>

#include <fmt/format.h>

namespace memsweep::model {

bool maps_pages(ResourceKind resource)
{
    return resource == ResourceKind::pages || resource == ResourceKind::memfd || resource == ResourceKind::shm ||
           resource == ResourceKind::file;
}

bool is_single_threaded(ResourceKind resource)
{
    return resource == ResourceKind::pmr_monotonic || resource == ResourceKind::pmr_unsync_pool;
}

bool frees_beside_the_program(const MemorySpec& memory, const ReleaseSpec& release)
{
    const bool by_fallback = release.fallback == Fallback::finalizer || release.fallback == Fallback::cleaner;
    return release.mode == ReleaseMode::finalizer || release.mode == ReleaseMode::cleaner ||
           (frees_manually(release) && by_fallback) || release.pressure.rule != PressureRule::none ||
           (memory.pool.kind != PoolKind::none && memory.pool.trim_interval_ns != 0);
}

std::string parallel_objection(const MemorySpec& memory, const ReleaseSpec& release)
{
    if (is_single_threaded(memory.resource)) {
        return fmt::format("resource \"{}\" may be used by one thread only", name_of(memory.resource));
    }
    const ModeFamily family = family_of(release.mode);
    const bool scoped = family == ModeFamily::arena || family == ModeFamily::stack;
    if (scoped || frees_manually(release)) {
        return fmt::format("mode \"{}\" {}: it has one thread only", name_of(release.mode),
                           scoped ? "ends memory with a block of the program" : "keeps account of frees by hand");
    }
    return release.safety.detect != Detection::off || release.safety.guard_pages
               ? "\"safety\" keeps account of every access: it has one thread only"
               : "";
}

bool frees_manually(const ReleaseSpec& release)
{
    return family_of(release.mode) == ModeFamily::manual ||
           (release.mode == ReleaseMode::refcount && release.fallback != Fallback::none);
}

bool is_collected(const ReleaseSpec& release)
{
    return family_of(release.mode) == ModeFamily::collected ||
           (frees_manually(release) && (release.fallback != Fallback::none || release.safety.ignore_manual_free));
}

bool is_from_driver(ResourceKind resource)
{
    return resource >= ResourceKind::pinned;  // as the enumeration says
}

bool is_shared(ResourceKind resource)
{
    return resource == ResourceKind::memfd || resource == ResourceKind::shm;
}

DriverMemoryName driver_memory_name(std::string_view text)
{
    DriverMemoryName name;
    if (const std::size_t at = text.rfind("@gpu"); at != std::string_view::npos) {
        name.device = text.substr(at + 1);
        text = text.substr(0, at);
    }
    if (const std::size_t at = text.find('@'); at != std::string_view::npos) {
        name.pool = text.substr(0, at);
        text = text.substr(at + 1);
    }
    name.kind = text;
    return name;
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
    const ModeFamily family = family_of(release.mode);
    if (family == ModeFamily::cache || family == ModeFamily::arena || family == ModeFamily::stack) {
        return fmt::format("mode \"{}\" clears what it hands out again, and the processor does not reach resource "
                           "\"{}\": it needs \"fill\": \"none\"",
                           name_of(release.mode), name_of(memory.resource));
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

std::string trim_objection(TrimHow how, const MemorySpec& memory, const SafetySpec& safety)
{
    if (memory.resource == ResourceKind::null) {
        return "resource \"null\" gives no memory: there is nothing to trim";
    }
    if (is_from_driver(memory.resource)) {
        return fmt::format("trims take pages of the process's own mappings: resource \"{}\" is a driver's",
                           name_of(memory.resource));
    }
    const bool fenced = safety.guard_pages || safety.detect == Detection::unmap;
    const bool shared = memory.resource == ResourceKind::memfd && !fenced;
    if (how == TrimHow::soft && !shared) {
        return fenced ? "trim \"soft\" keeps the contents of a shared mapping only; guard pages and detection by "
                        "unmapping make private ones"
                      : fmt::format("trim \"soft\" keeps the contents of a shared mapping only: it needs memory "
                                    "resource \"memfd\", not \"{}\"",
                                    name_of(memory.resource));
    }
    if ((how == TrimHow::dontneed || how == TrimHow::free) && shared) {
        return fmt::format("trim \"{}\" takes private anonymous memory only: resource \"memfd\" is a shared mapping, "
                           "whose twin of it is trim \"soft\"",
                           name_of(how));
    }
    return {};
}

}  // namespace memsweep::model
