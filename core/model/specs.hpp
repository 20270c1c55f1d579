// What a case asks of memory and of release: plain values, so that they travel to a worker process as bytes.
//
// Units    every scalar's name carries its unit; 0 in a limit means "none".
#pragma once

#include <array>
#include <cstdint>
#include <string>

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
    pinned,  // from here on: of an accelerator's driver, by the names of device::MemoryKind
    write_combined,
    mapped,
    managed,
    device,
    stream_ordered,
};

enum class PageKind : std::uint8_t {
    system,   // whatever the machine's THP setting gives
    small,    // 4 KiB only: MADV_NOHUGEPAGE
    thp,      // transparent huge pages asked for: MADV_HUGEPAGE
    huge_2m,  // reserved huge pages of 2 MiB: MAP_HUGETLB
    huge_1g,
};

enum class NumaPolicy : std::uint8_t { none, bind, preferred, interleave, weighted };

struct NumaSpec {
    NumaPolicy policy{NumaPolicy::none};
    std::uint64_t nodes{1};  // bit n: node n
    friend bool operator==(const NumaSpec&, const NumaSpec&) = default;
};

struct MemorySpec {
    ResourceKind resource{ResourceKind::malloc};
    PageKind pages{PageKind::system};
    std::uint64_t huge_pages_from_bytes{};  // advise huge pages for allocations of this size and more; 0: for none
    std::uint64_t limit_bytes{};            // limiting adaptor: refuse when more than this would be live
    std::uint64_t fail_every{};             // failing adaptor: refuse every Nth allocation
    std::uint32_t alignment{64};            // aligned: of every allocation, at least
    bool populated{};                       // every page is there before the allocation returns
    bool locked{};                          // and stays: mlock
    NumaSpec numa{};
    std::array<char, 128> path{};  // file: the folder, ends with a zero
    PoolSpec pool{};
    TrimPolicy trim;
    std::uint32_t device{};  // of a driver's memory: whose
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

// What frees the arrays that a manual release missed.
enum class Fallback : std::uint8_t { none, finalizer, cleaner, sweep, cycle };

enum class PressureRule : std::uint8_t { none, coreclr, cuda };

// How a use of freed memory is noticed.
enum class Detection : std::uint8_t {
    off,
    null,        // the name's pointer is cleared by a manual free
    flag,        // every access looks at the once-flag of the buffer
    quarantine,  // freed memory is poisoned and held back; the poison is checked
    unmap,       // freed memory is made inaccessible: a use traps
};

// A collector's own allocation budgets: the managed bytes that a program allocates beside each native buffer.
struct ManagedBudget {
    std::uint64_t bytes_per_array{};  // of small objects: wrappers, strings
    std::uint64_t garbage{};          // one more object per array, of this size, dropped at once
    std::uint64_t header{16};         // of that object
    std::uint64_t first{};            // young budget before the first collection; 0: as `steady`
    std::uint64_t second{};           // before the second; 0: as `steady`
    std::uint64_t steady{};           // 0: the young generation never triggers
    std::uint64_t used_at_start{};
    std::uint64_t tlab{};        // an object larger than this wastes as much at the end of the budget
    std::uint64_t region{};      // objects do not cross regions of this size
    std::uint64_t large_from{};  // objects from this size on have a budget of their own; 0: none do
    std::uint64_t large{};       // that budget; a collection comes once it is passed
    std::uint64_t promoted{};    // survives the first young collection, and counts with the large objects
    friend bool operator==(const ManagedBudget&, const ManagedBudget&) = default;
};

// What a runtime is told of native memory, and when it answers with a collection.
struct Pressure {
    PressureRule rule{PressureRule::none};
    std::uint64_t min_budget{4U << 20U};  // coreclr: gross additions that are always allowed
    double max_ratio{10};                 // coreclr: additions over removals that raise the budget most
    std::uint64_t managed_heap{};         // coreclr: size of the managed heap, of which
    double heap_share{1.0 / 3.0};         //          this share is a budget too
    double duty{5};                       // coreclr: collections lie this many collection times apart
    bool counts_idle{};                   // register what a pool holds idle as well: a mistake worth showing
    std::uint64_t capacity{};             // cuda: size of the device's memory; 0: nothing triggers
    double threshold{0.75};               // cuda: live share of the capacity
    double max_gc_share{0.05};            // cuda: share of the time that collections may take
    friend bool operator==(const Pressure&, const Pressure&) = default;
};

// The JVM's limit on direct buffers.
struct ReserveCap {
    std::uint64_t bytes{};  // 0: none
    bool explicit_gc{true};
    std::uint32_t sleeps{9};
    std::uint64_t first_sleep_ns{1'000'000};  // doubled from sleep to sleep
    friend bool operator==(const ReserveCap&, const ReserveCap&) = default;
};

// Julia's heap target.
struct HeapTarget {
    std::uint64_t initial{};  // 0: no such trigger
    double min_growth{0.05};
    std::uint64_t min_bytes{5'734'400};
    double tuning{2e4};
    double smooth_alloc{0.95};
    double smooth_gc{0.5};
    std::uint64_t max_heap{};         // 0: no limit
    std::uint64_t counts_from{2025};  // smaller arrays lie in the managed heap
    friend bool operator==(const HeapTarget&, const HeapTarget&) = default;
};

// CPython's cyclic collector.
struct CycleThresholds {
    std::uint32_t generation0{};  // container objects allocated minus deallocated; 0: no such trigger
    std::uint32_t generation1{10};
    std::uint32_t generation2{10};
    std::uint32_t containers_per_array{1};
    std::uint32_t temporary_containers{};  // alive only while an array is made
    std::uint32_t containers_at_start{};   // counted since the last collection before the first array
    double cyclic_fraction{1};             // of the arrays dropped; the others are freed by their count
    friend bool operator==(const CycleThresholds&, const CycleThresholds&) = default;
};

struct ArenaSpec {
    std::uint64_t slab_bytes{1U << 20U};
    std::uint32_t alignment{8};                // of what is bumped, at most; Bumper.jl aligns nothing
    bool restore_on_throw{};                   // false: an exception skips the restore, as in Bumper.jl
    std::uint64_t initial_bytes{128U << 20U};  // arena_autoscale: the main buffer
    std::uint32_t history{5};                  // arena_autoscale: resets that its size follows
    double headroom{1.1};
    friend bool operator==(const ArenaSpec&, const ArenaSpec&) = default;
};

struct CacheSpec {
    std::uint32_t per_size{8};             // blocks kept of one size
    std::uint64_t limit_bytes{1U << 30U};  // kept in all
    std::uint64_t from_bytes{1};           // pool: smaller arrays bypass it,
    std::uint64_t below_bytes{};           //       and those of this size and more; 0: none do
    std::uint64_t stack_bytes{4U << 20U};  // stack: the region; what does not fit comes from the resource
    friend bool operator==(const CacheSpec&, const CacheSpec&) = default;
};

// What looks for mistakes in the use of memory.
struct SafetySpec {
    Detection detect{Detection::off};
    std::uint64_t quarantine_bytes{256U << 20U};
    bool guard_pages{};         // the last byte of each array lies against an inaccessible page
    bool ignore_manual_free{};  // manual frees are disregarded; results must not change
    friend bool operator==(const SafetySpec&, const SafetySpec&) = default;
};

struct ReleaseSpec {
    ReleaseMode mode{ReleaseMode::refcount};
    Fallback fallback{Fallback::none};
    bool atomic{true};  // of the handle count
    std::uint32_t finalizer_threads{1};
    std::uint32_t finalizer_objects{1};  // finalizable objects per array
    std::uint32_t finalizer_nice{};
    std::uint64_t release_cost_ns{};  // busy time per release, for finalizers that do more than free
    std::uint64_t resurrect_every{};  // every Nth block found is kept alive for one more collection
    bool gated{};                     // the allocation that triggers a collection waits until it is drained
    std::uint64_t collect_every{};    // collect before an allocation when this many were made since the last
    std::uint64_t gc_pause_ns{};      // a collection stops the program for this long
    std::uint64_t gc_duration_ns{};   // a collection that pressure asks for runs this long in the background
    double free_fraction{1};          // of the manual releases, those that free at once
    std::uint64_t batch{16};          // deferred_batch: free when this many drops are waiting
    ManagedBudget managed;
    Pressure pressure;
    ReserveCap cap;
    HeapTarget target;
    CycleThresholds cycle;
    ArenaSpec arena;
    CacheSpec cache;
    SafetySpec safety;
    bool modelled{};    // a profile's parameters decide when collections come
    bool unverified{};  // ... and no recording of that runtime has confirmed them
    friend bool operator==(const ReleaseSpec&, const ReleaseSpec&) = default;
};

// Whether every allocation is a mapping of its own, whose pages can be chosen, populated, locked and placed.
[[nodiscard]] bool maps_pages(ResourceKind resource);

// Whether only one thread at a time may use it.
[[nodiscard]] bool is_single_threaded(ResourceKind resource);

// Whether threads of the harness's own free arrays, or look after idle memory, beside the program.
[[nodiscard]] bool frees_beside_the_program(const MemorySpec& memory, const ReleaseSpec& release);

// Why steps of this case cannot run in several threads at once; empty when they can.
[[nodiscard]] std::string parallel_objection(const MemorySpec& memory, const ReleaseSpec& release);

// Whether a drop under this mode begins with a manual release, which an exception or a rebinding skips.
[[nodiscard]] bool frees_manually(const ReleaseSpec& release);

// Whether a collection frees what was dropped: a drop alone does not.
[[nodiscard]] bool is_collected(const ReleaseSpec& release);

template <>
std::span<const Named<ResourceKind>> names<ResourceKind>();
template <>
std::span<const Named<PageKind>> names<PageKind>();
template <>
std::span<const Named<NumaPolicy>> names<NumaPolicy>();
template <>
std::span<const Named<ReleaseMode>> names<ReleaseMode>();
template <>
std::span<const Named<Fallback>> names<Fallback>();
template <>
std::span<const Named<PressureRule>> names<PressureRule>();
template <>
std::span<const Named<Detection>> names<Detection>();

}  // namespace memsweep::model
