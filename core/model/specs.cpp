#include "core/model/specs.hpp"

#include <array>

#include <fmt/format.h>

namespace memsweep::model {

template <>
std::span<const Named<ResourceKind>> names<ResourceKind>()
{
    static constexpr std::array<Named<ResourceKind>, 17> table{{
        {ResourceKind::malloc, "malloc", "the process's malloc: what most runtimes use"},
        {ResourceKind::aligned, "aligned", "the process's malloc, every allocation aligned as `alignment` says"},
        {ResourceKind::pages, "pages", "a private anonymous mapping per allocation, straight from the kernel"},
        {ResourceKind::memfd, "memfd", "a shared mapping per allocation that nobody else maps: what a soft trim needs"},
        {ResourceKind::shm, "shm", "shared memory by name in /dev/shm, reserved before it is mapped"},
        {ResourceKind::file, "file", "a mapping of a file of its own in the folder `path`, which has no name there"},
        {ResourceKind::pmr_new_delete, "pmr_new_delete",
         "the standard library's std::pmr::new_delete_resource: operator new"},
        {ResourceKind::pmr_monotonic, "pmr_monotonic",
         "std::pmr::monotonic_buffer_resource over it: nothing is freed before the end; one thread"},
        {ResourceKind::pmr_unsync_pool, "pmr_unsync_pool",
         "std::pmr::unsynchronized_pool_resource over it: small blocks are kept; one thread"},
        {ResourceKind::pmr_sync_pool, "pmr_sync_pool", "std::pmr::synchronized_pool_resource over it"},
        {ResourceKind::null, "null", "no memory at all: what the harness itself costs; arrays must not be touched"},
        {ResourceKind::pinned, "pinned", "page-locked host memory of a device's driver, a call of it per allocation"},
        {ResourceKind::write_combined, "write_combined", "the same, uncached by the processor: CUDA alone has it"},
        {ResourceKind::mapped, "mapped", "host memory that kernels of the device reach; arrays must not be touched"},
        {ResourceKind::managed, "managed", "one address for the processor and the device, moved on demand"},
        {ResourceKind::device, "device", "the device's own memory; arrays must not be touched"},
        {ResourceKind::stream_ordered, "stream_ordered",
         "the same from the driver's own pool, in the order of a stream: CUDA alone has it; arrays must not be "
         "touched"},
    }};
    return table;
}

template <>
std::span<const Named<PageKind>> names<PageKind>()
{
    static constexpr std::array<Named<PageKind>, 5> table{{
        {PageKind::system, "system", "as the machine's transparent-huge-page setting decides"},
        {PageKind::small, "4k", "base pages only (MADV_NOHUGEPAGE)"},
        {PageKind::thp, "thp", "transparent huge pages asked for (MADV_HUGEPAGE)"},
        {PageKind::huge_2m, "2MiB", "huge pages of 2 MiB that the machine has reserved (MAP_HUGETLB)"},
        {PageKind::huge_1g, "1GiB", "the same of 1 GiB"},
    }};
    return table;
}

template <>
std::span<const Named<NumaPolicy>> names<NumaPolicy>()
{
    static constexpr std::array<Named<NumaPolicy>, 5> table{{
        {NumaPolicy::none, "none", "as the process's own policy has it: where the first touch comes from"},
        {NumaPolicy::bind, "bind", "on these nodes only"},
        {NumaPolicy::preferred, "preferred", "on the first of these nodes as long as it has room"},
        {NumaPolicy::interleave, "interleave", "page by page over these nodes"},
        {NumaPolicy::weighted, "weighted", "interleaved by the kernel's weights (Linux 6.9)"},
    }};
    return table;
}

bool maps_pages(ResourceKind resource)
{
    return resource == ResourceKind::pages || resource == ResourceKind::memfd || resource == ResourceKind::shm ||
           resource == ResourceKind::file;
}

template <>
std::span<const Named<ReleaseMode>> names<ReleaseMode>()
{
    static constexpr std::array<Named<ReleaseMode>, 20> table{{
        {ReleaseMode::immediate, "immediate", "freed at the drop; no handle is counted atomically"},
        {ReleaseMode::refcount, "refcount", "freed by whoever drops the last reference, at once (CPython)"},
        {ReleaseMode::cycle, "cycle", "caught in reference cycles: freed by a count-triggered collection (CPython)"},
        {ReleaseMode::finalizer, "finalizer",
         "found unreachable by a collection, freed later by a finalizer thread (.NET, Mono)"},
        {ReleaseMode::cleaner, "cleaner",
         "found by a collection, freed by a reference handler; allocations wait at a cap (JVM direct buffers)"},
        {ReleaseMode::sweep, "sweep", "freed inside a stop-the-world sweep, by the allocating thread (Julia)"},
        {ReleaseMode::explicit_free, "explicit", "freed by the program; what it forgets is lost"},
        {ReleaseMode::must_free, "must_free", "freed by the program; an error while other handles exist"},
        {ReleaseMode::unsafe_free, "unsafe_free",
         "freed early by the program, best effort; a collector frees the rest"},
        {ReleaseMode::finalize_now, "finalize_now", "the finalizer run by the program, at once"},
        {ReleaseMode::arena, "arena", "bumped from slabs, all freed when the scope ends (Bumper.jl)"},
        {ReleaseMode::arena_autoscale, "arena_autoscale",
         "bumped from one buffer that grows to what the last scopes used (AllocArrays.jl)"},
        {ReleaseMode::arena_checked, "arena_checked", "as arena, and every access asks whether its scope still lives"},
        {ReleaseMode::pool, "pool", "returned to a pool of power-of-two classes, reused from there"},
        {ReleaseMode::preallocated, "preallocated", "kept for ever and handed out again for the same size"},
        {ReleaseMode::tls_cache, "tls_cache", "returned to a bounded cache of the thread, by exact size"},
        {ReleaseMode::forward, "forward", "the last buffer dropped is the next one made, if its size fits exactly"},
        {ReleaseMode::deferred_batch, "deferred_batch", "freed in batches of N drops, by the dropping thread"},
        {ReleaseMode::stack, "stack", "bumped from a stack and popped at the drop: the floor"},
        {ReleaseMode::leak, "leak", "never freed: the upper bound"},
    }};
    return table;
}

template <>
std::span<const Named<Fallback>> names<Fallback>()
{
    static constexpr std::array<Named<Fallback>, 5> table{{
        {Fallback::none, "none", "nobody: it is lost"},
        {Fallback::finalizer, "finalizer", "a collection and a finalizer thread"},
        {Fallback::cleaner, "cleaner", "a collection and a reference handler"},
        {Fallback::sweep, "sweep", "the sweep of a collection"},
        {Fallback::cycle, "cycle", "a count-triggered collection"},
    }};
    return table;
}

template <>
std::span<const Named<PressureRule>> names<PressureRule>()
{
    static constexpr std::array<Named<PressureRule>, 3> table{{
        {PressureRule::none, "none", "native memory triggers nothing (Mono)"},
        {PressureRule::coreclr, "coreclr",
         "gross additions against a budget, at a bounded duty (GC.AddMemoryPressure)"},
        {PressureRule::cuda, "cuda", "live bytes against the device's capacity, at a bounded share of time (CUDA.jl)"},
    }};
    return table;
}

template <>
std::span<const Named<Detection>> names<Detection>()
{
    static constexpr std::array<Named<Detection>, 5> table{{
        {Detection::off, "off", "a use after free goes where it goes"},
        {Detection::null, "null", "a manual free clears the name's pointer"},
        {Detection::flag, "flag", "every access looks whether its buffer is freed"},
        {Detection::quarantine, "quarantine", "freed memory is poisoned and held back; broken poison is a write"},
        {Detection::unmap, "unmap", "freed memory becomes inaccessible; a use traps"},
    }};
    return table;
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
    const bool scoped = release.mode == ReleaseMode::arena || release.mode == ReleaseMode::arena_autoscale ||
                        release.mode == ReleaseMode::arena_checked || release.mode == ReleaseMode::stack;
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
    switch (release.mode) {
    case ReleaseMode::explicit_free:
    case ReleaseMode::must_free:
    case ReleaseMode::unsafe_free:
    case ReleaseMode::finalize_now:
        return true;
    case ReleaseMode::refcount:
        return release.fallback != Fallback::none;
    case ReleaseMode::immediate:
    case ReleaseMode::cycle:
    case ReleaseMode::finalizer:
    case ReleaseMode::cleaner:
    case ReleaseMode::sweep:
    case ReleaseMode::arena:
    case ReleaseMode::arena_autoscale:
    case ReleaseMode::arena_checked:
    case ReleaseMode::pool:
    case ReleaseMode::preallocated:
    case ReleaseMode::tls_cache:
    case ReleaseMode::forward:
    case ReleaseMode::deferred_batch:
    case ReleaseMode::stack:
    case ReleaseMode::leak:
        break;
    }
    return false;
}

bool is_collected(const ReleaseSpec& release)
{
    switch (release.mode) {
    case ReleaseMode::cycle:
    case ReleaseMode::finalizer:
    case ReleaseMode::cleaner:
    case ReleaseMode::sweep:
        return true;
    case ReleaseMode::refcount:
    case ReleaseMode::explicit_free:
    case ReleaseMode::must_free:
    case ReleaseMode::unsafe_free:
    case ReleaseMode::finalize_now:
        return frees_manually(release) && (release.fallback != Fallback::none || release.safety.ignore_manual_free);
    case ReleaseMode::immediate:
    case ReleaseMode::arena:
    case ReleaseMode::arena_autoscale:
    case ReleaseMode::arena_checked:
    case ReleaseMode::pool:
    case ReleaseMode::preallocated:
    case ReleaseMode::tls_cache:
    case ReleaseMode::forward:
    case ReleaseMode::deferred_batch:
    case ReleaseMode::stack:
    case ReleaseMode::leak:
        break;
    }
    return false;
}

}  // namespace memsweep::model
