// The memory and the release mode that a case asks for. They are plain values, so that they can be sent to a worker
// process as bytes. Also functions that say what a combination allows, as far as that is known without a device.
//
// Units    as in the names of the fields. 0 in a limit means "none", unless its comment says otherwise.
// Sources  kinds of driver memory: device::MemoryKind. A kind counts as reachable by the processor only if all runtimes
//          promise this for all devices. The kind `mapped` does not count, because the processor has an address for
//          such memory only while it is mapped.
// Errors   functions named ..._objection return what is wrong and, if there is something, what to use instead; empty:
//          nothing is wrong.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/model/names.hpp"
#include "core/model/paging.hpp"
#include "core/model/pool_spec.hpp"

namespace memsweep::model {

enum class ResourceKind : std::uint8_t {
    malloc,
    aligned,
    pages,
    memfd,
    shm,
    file,
    pmr_new_delete,
    pmr_monotonic,
    pmr_unsync_pool,
    pmr_sync_pool,
    null,
    pinned,  // this and all kinds below: memory of an accelerator's driver, named as in device::MemoryKind
    write_combined,
    mapped,
    managed,
    device,
    stream_ordered,
};

template <>
inline constexpr auto name_table<ResourceKind> = std::to_array<Named<ResourceKind>>({
    {ResourceKind::malloc, "malloc", "the process's malloc: what most runtimes use"},
    {ResourceKind::aligned, "aligned", "the process's malloc, every allocation aligned as `alignment` says"},
    {ResourceKind::pages, "pages", "a private anonymous mapping per allocation, straight from the kernel"},
    {ResourceKind::memfd, "memfd",
     "a shared mapping per allocation, which no other process maps; a soft trim needs it"},
    {ResourceKind::shm, "shm", "named shared memory in /dev/shm, reserved before it is mapped"},
    {ResourceKind::file, "file", "a mapping of a new unnamed file in the folder `path`, per allocation"},
    {ResourceKind::pmr_new_delete, "pmr_new_delete",
     "the standard library's std::pmr::new_delete_resource: operator new"},
    {ResourceKind::pmr_monotonic, "pmr_monotonic",
     "std::pmr::monotonic_buffer_resource over pmr_new_delete: nothing is freed before the end; one thread"},
    {ResourceKind::pmr_unsync_pool, "pmr_unsync_pool",
     "std::pmr::unsynchronized_pool_resource over pmr_new_delete: small blocks are kept; one thread"},
    {ResourceKind::pmr_sync_pool, "pmr_sync_pool",
     "std::pmr::synchronized_pool_resource over pmr_new_delete: small blocks are kept"},
    {ResourceKind::null, "null",
     "no memory at all, to measure the cost of the harness itself; arrays must not be touched"},
    {ResourceKind::pinned, "pinned",
     "page-locked host memory from a device's driver, with one driver call per allocation"},
    {ResourceKind::write_combined, "write_combined", "as pinned, but not cached by the processor (CUDA only)"},
    {ResourceKind::mapped, "mapped", "host memory that kernels of the device can access; arrays must not be touched"},
    {ResourceKind::managed, "managed", "memory with one address for processor and device, whose pages move on demand"},
    {ResourceKind::device, "device", "the device's own memory; arrays must not be touched"},
    {ResourceKind::stream_ordered, "stream_ordered",
     "the device's own memory from the driver's pool, in stream order (CUDA only); arrays must not be touched"},
});

enum class PageKind : std::uint8_t { system, small, thp, huge_2m, huge_1g };

template <>
inline constexpr auto name_table<PageKind> = std::to_array<Named<PageKind>>({
    {PageKind::system, "system", "as the machine's transparent-huge-page setting decides"},
    {PageKind::small, "4k", "base pages only (MADV_NOHUGEPAGE)"},
    {PageKind::thp, "thp", "transparent huge pages are requested (MADV_HUGEPAGE)"},
    {PageKind::huge_2m, "2MiB", "huge pages of 2 MiB that the machine has reserved (MAP_HUGETLB)"},
    {PageKind::huge_1g, "1GiB", "huge pages of 1 GiB that the machine has reserved (MAP_HUGETLB)"},
});

enum class NumaPolicy : std::uint8_t { none, bind, preferred, interleave, weighted };

template <>
inline constexpr auto name_table<NumaPolicy> = std::to_array<Named<NumaPolicy>>({
    {NumaPolicy::none, "none", "the process's own policy: by default, the node whose processor first touches a page"},
    {NumaPolicy::bind, "bind", "on these nodes only"},
    {NumaPolicy::preferred, "preferred", "on the first of these nodes as long as it has room"},
    {NumaPolicy::interleave, "interleave", "page by page over these nodes"},
    {NumaPolicy::weighted, "weighted", "interleaved by the kernel's weights (Linux 6.9)"},
});

struct NumaSpec {
    NumaPolicy policy{NumaPolicy::none};
    std::uint64_t nodes{1};  // bit n is set for node n
    friend bool operator==(const NumaSpec&, const NumaSpec&) = default;
};

enum class Accounting : std::uint8_t { exact, off };

template <>
inline constexpr auto name_table<Accounting> = std::to_array<Named<Accounting>>({
    {Accounting::exact, "exact", "every allocation and free is counted, and the bytes that are live"},
    {Accounting::off, "off",
     "nothing is counted, so that an operation has less overhead; results then lack allocations, their bytes and live "
     "bytes"},
});

struct MemorySpec {
    ResourceKind resource{ResourceKind::malloc};
    PageKind pages{PageKind::system};
    std::uint64_t huge_pages_from_bytes{};  // advise huge pages for allocations of at least this size; 0: never
    std::uint64_t limit_bytes{};  // refuse allocations that would raise the live bytes above this; 0: no limit
    std::uint64_t fail_every{};   // refuse every Nth allocation, where N is this number; 0: refuse none
    std::uint32_t alignment{64};  // resource `aligned`: minimum alignment of every allocation
    bool populated{};             // all pages are resident before the allocation returns
    bool locked{};                // all pages are resident and stay so (mlock)
    NumaSpec numa{};
    std::array<char, 128> path{};  // resource `file`: the folder, zero-terminated
    PoolSpec pool{};
    TrimPolicy trim;
    std::uint32_t device{};  // for a driver's memory: the device
    Accounting accounting{Accounting::exact};
    friend bool operator==(const MemorySpec&, const MemorySpec&) = default;
};

enum class ReleaseMode : std::uint8_t {
    immediate,
    refcount,
    cycle,
    finalizer,
    cleaner,
    sweep,
    explicit_free,
    must_free,
    unsafe_free,
    finalize_now,
    arena,
    arena_autoscale,
    arena_checked,
    pool,
    preallocated,
    tls_cache,
    forward,
    deferred_batch,
    stack,
    leak,
};

template <>
inline constexpr auto name_table<ReleaseMode> = std::to_array<Named<ReleaseMode>>({
    {ReleaseMode::immediate, "immediate", "freed at the drop; reference counts are not atomic"},
    {ReleaseMode::refcount, "refcount", "freed at once, by the thread that drops the last reference (CPython)"},
    {ReleaseMode::cycle, "cycle",
     "held in reference cycles, and freed by a collection that a count triggers (CPython)"},
    {ReleaseMode::finalizer, "finalizer",
     "found unreachable by a collection, freed later by a finalizer thread (.NET, Mono)"},
    {ReleaseMode::cleaner, "cleaner",
     "found unreachable by a collection, freed by a reference handler; allocations wait at a cap (JVM direct buffers)"},
    {ReleaseMode::sweep, "sweep", "freed inside a stop-the-world sweep, by the allocating thread (Julia)"},
    {ReleaseMode::explicit_free, "explicit", "freed by the program; memory that it forgets to free is lost"},
    {ReleaseMode::must_free, "must_free", "freed by the program; an error while other handles exist"},
    {ReleaseMode::unsafe_free, "unsafe_free", "freed early by the program, best effort; a collector frees the rest"},
    {ReleaseMode::finalize_now, "finalize_now", "freed at once, as the program runs the finalizer itself"},
    {ReleaseMode::arena, "arena", "bump-allocated from slabs, and all freed when the scope ends (Bumper.jl)"},
    {ReleaseMode::arena_autoscale, "arena_autoscale",
     "bump-allocated from one buffer, which grows to the size that the last scopes used (AllocArrays.jl)"},
    {ReleaseMode::arena_checked, "arena_checked", "as arena, and every access checks that its scope has not ended"},
    {ReleaseMode::pool, "pool", "returned to a pool with power-of-two size classes, and reused from it"},
    {ReleaseMode::preallocated, "preallocated", "never freed, and handed out again for requests of the same size"},
    {ReleaseMode::tls_cache, "tls_cache",
     "returned to the thread's bounded cache, and reused for exactly the same size"},
    {ReleaseMode::forward, "forward", "the buffer dropped last is reused for the next array, if the sizes are equal"},
    {ReleaseMode::deferred_batch, "deferred_batch", "freed in batches of N drops, by the dropping thread"},
    {ReleaseMode::stack, "stack", "bump-allocated from a stack, and popped at the drop: the lower bound of the cost"},
    {ReleaseMode::leak, "leak", "never freed: the upper bound of memory"},
});

// Groups of release modes that free in the same way.
enum class ModeFamily : std::uint8_t { immediate, counted, collected, manual, arena, cache, batch, stack, leak };

[[nodiscard]] constexpr ModeFamily family_of(ReleaseMode mode)
{
    switch (mode) {
    case ReleaseMode::immediate:
        return ModeFamily::immediate;
    case ReleaseMode::refcount:
        return ModeFamily::counted;
    case ReleaseMode::cycle:
    case ReleaseMode::finalizer:
    case ReleaseMode::cleaner:
    case ReleaseMode::sweep:
        return ModeFamily::collected;
    case ReleaseMode::explicit_free:
    case ReleaseMode::must_free:
    case ReleaseMode::unsafe_free:
    case ReleaseMode::finalize_now:
        return ModeFamily::manual;
    case ReleaseMode::arena:
    case ReleaseMode::arena_autoscale:
    case ReleaseMode::arena_checked:
        return ModeFamily::arena;
    case ReleaseMode::pool:
    case ReleaseMode::preallocated:
    case ReleaseMode::tls_cache:
    case ReleaseMode::forward:
        return ModeFamily::cache;
    case ReleaseMode::deferred_batch:
        return ModeFamily::batch;
    case ReleaseMode::stack:
        return ModeFamily::stack;
    case ReleaseMode::leak:
        break;
    }
    return ModeFamily::leak;
}

// The mechanism that frees arrays that the program did not free by hand.
enum class Fallback : std::uint8_t { none, finalizer, cleaner, sweep, cycle };

template <>
inline constexpr auto name_table<Fallback> = std::to_array<Named<Fallback>>({
    {Fallback::none, "none", "nothing frees them: their memory is lost"},
    {Fallback::finalizer, "finalizer", "a collection and a finalizer thread"},
    {Fallback::cleaner, "cleaner", "a collection and a reference handler"},
    {Fallback::sweep, "sweep", "the sweep of a collection"},
    {Fallback::cycle, "cycle", "a count-triggered collection"},
});

enum class PressureRule : std::uint8_t { none, coreclr, cuda };

template <>
inline constexpr auto name_table<PressureRule> = std::to_array<Named<PressureRule>>({
    {PressureRule::none, "none", "native memory triggers nothing (Mono)"},
    {PressureRule::coreclr, "coreclr",
     "bytes added since the last collection are held against a budget, and collections may take only a bounded share "
     "of time (GC.AddMemoryPressure)"},
    {PressureRule::cuda, "cuda",
     "live bytes are held against the device's capacity, and collections may take only a bounded share of time "
     "(CUDA.jl)"},
});

// How a use of freed memory is noticed.
enum class Detection : std::uint8_t { off, null, flag, quarantine, unmap };

template <>
inline constexpr auto name_table<Detection> = std::to_array<Named<Detection>>({
    {Detection::off, "off", "a use after free is not detected"},
    {Detection::null, "null", "a manual free clears the name's pointer"},
    {Detection::flag, "flag", "every access checks whether its buffer has been freed"},
    {Detection::quarantine, "quarantine",
     "freed memory is poisoned and kept from reuse; a changed poison byte reveals a write"},
    {Detection::unmap, "unmap", "freed memory becomes inaccessible; a use traps"},
});

// The sizes of a JVM's heap, which determine the size of its young generation.
struct HeapSizes {
    std::uint64_t initial{};  // 0: the heap does not determine the young generation
    std::uint64_t min{};      // a collection that the program requests does not shrink the heap below this
    std::uint64_t max{};      // 0: the same as `initial`
    friend bool operator==(const HeapSizes&, const HeapSizes&) = default;
};

// The managed bytes that a program allocates with each native buffer, and the budgets after which a collector runs.
struct ManagedBudget {
    std::uint64_t bytes_per_array{};  // bytes of the small objects that belong to an array: wrappers, strings
    std::uint64_t garbage{};   // size of one more object per array, dropped right after it is made; 0: no such object
    std::uint64_t header{16};  // header of the `garbage` object
    std::uint64_t first{};     // budget of the young generation before the first collection; 0: as `steady`
    std::uint64_t second{};    // budget before the second collection; 0: as `steady`
    std::uint64_t steady{};    // budget before all later collections; 0: the young generation triggers none
    std::uint64_t used_at_start{};
    // Size of a thread-local buffer. When a collection begins, a part of the buffer is unused: all of it if `garbage`
    // is larger than the buffer, otherwise half. Without `garbage` the buffer is used up.
    std::uint64_t tlab{};
    std::uint64_t region{};      // objects do not cross the borders of regions of this size; 0: no regions
    std::uint64_t large_from{};  // objects from this size on count against `large` instead; 0: none do
    std::uint64_t large{};       // budget of large objects; a collection runs when it is exceeded
    std::uint64_t promoted{};    // bytes that survive the first young collection and then count against `large`
    HeapSizes heap;              // if set, gives the budgets, by the rules of G1 if `region` is set, else of Serial
    friend bool operator==(const ManagedBudget&, const ManagedBudget&) = default;
};

// The rule by which native memory triggers collections.
struct Pressure {
    PressureRule rule{PressureRule::none};
    std::uint64_t min_budget{4U << 20U};  // coreclr: bytes that may always be added before a collection
    double max_ratio{10};  // coreclr: the budget is multiplied by added bytes / removed bytes, but at most by this
    std::uint64_t managed_heap{};  // coreclr: size of the managed heap
    double heap_share{1.0 / 3.0};  // coreclr: this share of the managed heap is another lower limit of the budget
    double duty{5};      // coreclr: shortest time between two collections, as a multiple of a collection's duration
    bool counts_idle{};  // memory that goes back to a pool is added to the pressure again, a mistake of some programs
    std::uint64_t capacity{};   // cuda: size of the device's memory; 0: no collections
    double threshold{0.75};     // cuda: collect if live bytes are at least this share of the capacity
    double max_gc_share{0.05};  // cuda: largest share of time for collections; may be doubled 3 times (triggers.hpp)
    friend bool operator==(const Pressure&, const Pressure&) = default;
};

// The JVM's limit on direct buffers.
struct ReserveCap {
    std::uint64_t bytes{};                    // 0: no limit
    bool explicit_gc{true};                   // an allocation at the limit may request a collection
    std::uint32_t sleeps{9};                  // number of sleeps before an allocation at the limit fails
    std::uint64_t first_sleep_ns{1'000'000};  // each sleep is twice as long as the one before
    friend bool operator==(const ReserveCap&, const ReserveCap&) = default;
};

// Julia's heap target: a collection runs when the heap reaches it.
struct HeapTarget {
    std::uint64_t initial{};  // 0: no such trigger
    double min_growth{0.05};
    std::uint64_t min_bytes{5'734'400};
    double tuning{2e4};
    double smooth_alloc{0.95};
    double smooth_gc{0.5};
    std::uint64_t max_heap{};         // 0: no limit
    std::uint64_t counts_from{2025};  // smaller arrays are in the managed heap and do not count
    friend bool operator==(const HeapTarget&, const HeapTarget&) = default;
};

// Thresholds of CPython's cyclic collector. A container is an object that can be part of a reference cycle.
struct CycleThresholds {
    std::uint32_t generation0{};  // collect when containers allocated minus freed exceed this; 0: no such trigger
    std::uint32_t generation1{10};
    std::uint32_t generation2{10};
    std::uint32_t containers_per_array{1};
    std::uint32_t temporary_containers{};  // live only while an array is made
    std::uint32_t containers_at_start{};   // the count just before the first array is made
    std::uint32_t containers_beside{};     // made with each array; they live until the next array has its own
    std::uint32_t free_list{80};  // largest number of freed containers kept for reuse; reuse does not change the count
    std::uint32_t long_lived{20'000};  // containers that survived the last full collection before the steps began
    double cyclic_fraction{1};         // share of dropped arrays in cycles; the others are freed at the drop
    friend bool operator==(const CycleThresholds&, const CycleThresholds&) = default;
};

struct ArenaSpec {
    std::uint64_t slab_bytes{1U << 20U};
    std::uint32_t alignment{8};  // maximum alignment of allocations; Bumper.jl does not align at all
    bool restore_on_throw{};     // whether an exception frees the scope's memory; in Bumper.jl it does not
    std::uint64_t initial_bytes{128U << 20U};  // arena_autoscale: initial size of the main buffer
    std::uint32_t history{5};  // arena_autoscale: how many of the last resets determine the buffer's size
    // For arena_autoscale: if the buffer is resized, its new size is this factor times the most bytes that were in use
    // before any of the last `history` resets.
    double headroom{1.1};
    friend bool operator==(const ArenaSpec&, const ArenaSpec&) = default;
};

struct CacheSpec {
    std::uint32_t per_size{8};             // largest number of kept blocks of one size
    std::uint64_t limit_bytes{1U << 30U};  // largest number of kept bytes, over all sizes
    std::uint64_t from_bytes{1};           // pool: smaller arrays bypass the pool
    std::uint64_t below_bytes{};           // pool: arrays of at least this size bypass the pool; 0: no array does
    std::uint64_t stack_bytes{4U << 20U};  // stack: size of the region; arrays that do not fit come from the resource
    friend bool operator==(const CacheSpec&, const CacheSpec&) = default;
};

// Options that look for mistakes in the use of memory.
struct SafetySpec {
    Detection detect{Detection::off};
    std::uint64_t quarantine_bytes{256U << 20U};
    bool guard_pages{};         // each array ends directly before an inaccessible page
    bool ignore_manual_free{};  // manual frees do nothing; checksums must not change
    friend bool operator==(const SafetySpec&, const SafetySpec&) = default;
};

struct ReleaseSpec {
    ReleaseMode mode{ReleaseMode::refcount};
    Fallback fallback{Fallback::none};
    bool atomic{true};  // reference counts are atomic
    std::uint32_t finalizer_threads{1};
    std::uint32_t finalizer_objects{1};  // finalizable objects per array
    std::uint32_t finalizer_nice{};      // nice value of finalizer threads
    std::uint64_t release_cost_ns{};     // additional busy time per release, for finalizers that do more than free
    std::uint64_t resurrect_every{};     // one in this many unreachable blocks lives until the next collection; 0: none
    bool gated{};                        // an allocation that triggers a collection waits for the collection's releases
    // The number of allocations after which a collection runs; 0: allocations alone start no collection.
    std::uint64_t collect_every{};
    std::uint64_t gc_pause_ns{};     // a collection stops the program for this long
    std::uint64_t gc_duration_ns{};  // a collection triggered by `pressure` runs this long in the background
    double free_fraction{1};         // share of manual releases that free at once
    std::uint64_t batch{16};         // deferred_batch: when this many drops wait, all of them are freed
    ManagedBudget managed;
    Pressure pressure;
    ReserveCap cap;
    HeapTarget target;
    CycleThresholds cycle;
    ArenaSpec arena;
    CacheSpec cache;
    SafetySpec safety;
    bool modelled{};    // the parameters of a runtime profile decide when collections happen
    bool unverified{};  // no recording of that runtime has confirmed these parameters
    friend bool operator==(const ReleaseSpec&, const ReleaseSpec&) = default;
};

// Whether every allocation is a mapping of its own, so that page kind, placement, population and locking apply.
[[nodiscard]] bool maps_pages(ResourceKind resource);

// Whether only one thread at a time may use the resource.
[[nodiscard]] bool is_single_threaded(ResourceKind resource);

// Whether threads of the harness free arrays or trim idle memory while the program runs.
[[nodiscard]] bool frees_beside_the_program(const MemorySpec& memory, const ReleaseSpec& release);

// Why steps of this case cannot run in several threads at the same time; empty if they can.
[[nodiscard]] std::string parallel_objection(const MemorySpec& memory, const ReleaseSpec& release);

// Whether the program frees arrays by hand when it drops them. It does not do so if an exception leaves a scope or if a
// name is rebound.
[[nodiscard]] bool frees_manually(const ReleaseSpec& release);

// Whether a collection frees dropped arrays, so that the drop alone does not.
[[nodiscard]] bool is_collected(const ReleaseSpec& release);

[[nodiscard]] bool is_from_driver(ResourceKind resource);
[[nodiscard]] bool is_shared(ResourceKind resource);  // a shared mapping without a file on a disk: memfd, shm

// The parts of a name of driver memory: KIND or POOL@KIND, optionally followed by @gpuN, as in "tlsf@pinned@gpu1".
// Parts that are not in the name are absent or empty. The caller must check that the pool, the kind and the device
// exist.
struct DriverMemoryName {
    std::optional<std::string_view> pool;
    std::string_view kind, device;
};
[[nodiscard]] DriverMemoryName driver_memory_name(std::string_view text);

// Whether the resource is the device's own memory. Some devices use memory of the host as their own.
[[nodiscard]] bool is_on_device(ResourceKind resource);

// Whether the resource is a driver's memory that the processor can neither read nor write.
[[nodiscard]] bool is_beyond_reach(ResourceKind resource);

// Why steps cannot read and write arrays of this resource.
[[nodiscard]] std::string touch_objection(ResourceKind resource);

// Why arrays cannot be filled with zeros when they are made. Memory that the processor cannot reach is cleared by the
// driver, and only when it is new.
[[nodiscard]] std::string zeros_objection(const MemorySpec& memory, const ReleaseSpec& release);

// Why advice to the kernel on pages (madvise) does not apply to this resource.
[[nodiscard]] std::string advice_objection(ResourceKind resource);

// Why a driver's memory cannot be combined with the pool of `memory`, or with the checks of `safety`.
[[nodiscard]] std::string driver_objection(const MemorySpec& memory, const SafetySpec& safety);

// Why the memory of `memory` cannot be trimmed by the mechanism `how`.
[[nodiscard]] std::string trim_objection(TrimHow how, const MemorySpec& memory, const SafetySpec& safety);

}  // namespace memsweep::model
