#include "core/model/metric.hpp"

#include <algorithm>
#include <array>

namespace memsweep::model {

template <>
std::span<const Named<Unit>> names<Unit>()
{
    static constexpr std::array<Named<Unit>, 5> table{{
        {Unit::bytes, "B", "bytes"},
        {Unit::seconds, "s", "seconds"},
        {Unit::bytes_per_second, "B/s", "bytes per second"},
        {Unit::one, "1", "a count or a ratio"},
        {Unit::per_second, "op/s", "operations per second"},
    }};
    return table;
}

template <>
std::span<const Named<Better>> names<Better>()
{
    static constexpr std::array<Named<Better>, 2> table{{
        {Better::lower, "lower", "less is better"},
        {Better::higher, "higher", "more is better"},
    }};
    return table;
}

template <>
std::span<const Named<MetricClass>> names<MetricClass>()
{
    static constexpr std::array<Named<MetricClass>, 2> table{{
        {MetricClass::exact, "exact", "a counter that repeats to the last digit"},
        {MetricClass::noisy, "noisy", "varies from repetition to repetition"},
    }};
    return table;
}

template <>
std::span<const Named<Provenance>> names<Provenance>()
{
    static constexpr std::array<Named<Provenance>, 3> table{{
        {Provenance::measured, "measured", "read from a clock, a counter or the kernel"},
        {Provenance::derived, "derived", "computed from measured values"},
        {Provenance::modelled, "modelled", "follows a runtime profile's rule, not an observation"},
    }};
    return table;
}

namespace {

constexpr auto lower = Better::lower;
constexpr auto higher = Better::higher;
constexpr auto exact = MetricClass::exact;
constexpr auto noisy = MetricClass::noisy;
constexpr auto measured = Provenance::measured;
constexpr auto derived = Provenance::derived;
constexpr auto modelled = Provenance::modelled;

constexpr auto metrics = std::to_array<MetricInfo>({
    {"wall_time", Unit::seconds, lower, noisy, measured, "time of the timed steps; samples are never part of it"},
    {"cpu_time", Unit::seconds, lower, noisy, measured, "user and system time of the whole worker over the same steps"},
    {"time_per_op", Unit::seconds, lower, noisy, derived,
     "wall_time per array allocated in the timed steps; of concat steps the upper middle of the times of their calls"},
    {"call_time_min", Unit::seconds, lower, noisy, measured, "fastest of the timed calls of concat steps"},
    {"call_time_mean", Unit::seconds, lower, noisy, derived,
     "mean of the same calls: pauses that hit few of them show"},
    {"call_time_max", Unit::seconds, lower, noisy, measured, "slowest of the same calls"},
    {"working_set_peak", Unit::bytes, lower, noisy, measured, "highest resident set (VmHWM, huge pages included)"},
    {"working_set_peak_delta", Unit::bytes, lower, noisy, derived, "working_set_peak above the repetition's baseline"},
    {"residual_working_set", Unit::bytes, lower, noisy, derived, "resident set at the end minus the baseline"},
    {"live_bytes_peak", Unit::bytes, lower, exact, measured, "most bytes acquired and not released, by exact counters"},
    {"floating_bytes_peak", Unit::bytes, lower, exact, measured,
     "most bytes live natively but unreachable for the program"},
    {"minor_faults", Unit::one, lower, noisy, measured, "page faults served without I/O, samples excluded"},
    {"major_faults", Unit::one, lower, noisy, measured, "page faults that needed I/O, samples excluded"},
    {"faults_per_op", Unit::one, lower, noisy, derived,
     "minor faults per array allocated, or per timed call of concat steps"},
    {"checksum_ok", Unit::one, higher, exact, measured,
     "1 when every result of concat steps that was looked at is NumPy's, else 0"},
    {"allocations", Unit::one, lower, exact, measured, "arrays granted by the memory resource"},
    {"allocated_bytes", Unit::bytes, lower, exact, measured, "bytes granted over the repetition"},
    {"pages_touched", Unit::one, lower, noisy, derived, "base pages that arrays span when they are first written"},
    {"faults_over_expected", Unit::one, lower, noisy, derived,
     "minor faults over the known answer: huge pages present at the last sample plus the remaining pages touched"},
    {"collections", Unit::one, lower, exact, measured, "collections run, asked for or triggered"},
    {"drain_time", Unit::seconds, lower, noisy, measured, "time spent in drain steps"},
    {"queue_depth_peak", Unit::one, lower, noisy, measured, "most arrays found unreachable and waiting for release"},
    {"release_latency", Unit::seconds, lower, noisy, measured,
     "median time from the drop of an array until its memory was freed"},
    {"release_latency_p95", Unit::seconds, lower, noisy, measured, "the same, of the slowest 5 %"},
    {"release_latency_max", Unit::seconds, lower, noisy, measured, "the same, of the slowest"},
    {"gc_pause_time", Unit::seconds, lower, noisy, measured, "time the program stood still for collections"},
    {"gc_pause_max", Unit::seconds, lower, noisy, measured, "longest of these pauses"},
    {"gc_avoided", Unit::one, higher, noisy, modelled, "collections that manual frees spared, by the same trigger"},
    {"freed_early", Unit::one, higher, exact, measured, "arrays freed by the program itself, before any collection"},
    {"finalizers_registered", Unit::one, lower, exact, measured, "finalizable objects made"},
    {"reserve_sleeps", Unit::one, lower, noisy, measured, "sleeps of allocations that waited for memory under a cap"},
    {"reserve_sleep_time", Unit::seconds, lower, noisy, measured, "time they slept"},
    {"arena_bytes", Unit::bytes, lower, exact, measured, "bytes bumped in arenas or on the stack"},
    {"arena_slabs", Unit::one, lower, exact, measured, "slabs that arenas acquired"},
    {"arena_escapes", Unit::one, lower, exact, measured, "arrays still referenced when their scope ended"},
    {"pool_hit_rate", Unit::one, higher, exact, measured, "share of the arrays made from kept memory"},
    {"pool_thread_hits", Unit::one, higher, exact, measured, "arrays served by the cache of their thread"},
    {"pool_depot_hits", Unit::one, higher, exact, measured, "by a depot of the pool, or by the thread's own stripe"},
    {"pool_common_hits", Unit::one, higher, exact, measured,
     "by the pool's common store, by another stripe, or from a chunk"},
    {"pool_misses", Unit::one, lower, exact, measured, "for which the pool asked its resource"},
    {"pool_bypasses", Unit::one, lower, exact, measured, "that no class of the pool holds"},
    {"pool_waste", Unit::one, lower, exact, derived, "share of what the pool served that nobody asked for"},
    {"pool_held_peak", Unit::bytes, lower, noisy, measured, "most that the pool held of its resource, in use or idle"},
    {"pool_evictions", Unit::one, lower, noisy, measured, "blocks that went because the pool was full"},
    {"pool_released_bytes", Unit::bytes, higher, noisy, measured, "bytes that the pool gave back to its resource"},
    {"pool_trim_time", Unit::seconds, lower, noisy, measured, "time spent in trims that gave something back"},
    {"pool_passes", Unit::one, lower, noisy, measured, "passes of the pool's maintenance thread"},
    {"pool_short_blocks", Unit::one, lower, exact, measured,
     "blocks of the pool that were too short for the request and therefore not handed out"},
    {"fragmentation", Unit::one, lower, noisy, derived,
     "1 - largest idle range / all idle bytes of the pool, at its highest sample"},
    {"outstanding", Unit::one, lower, exact, measured, "arrays acquired and not released at the end"},
    {"checksum", Unit::one, lower, exact, measured, "of everything read; must not depend on when memory is released"},
    {"use_after_free", Unit::one, lower, exact, measured, "accesses to freed memory that were noticed"},
    {"double_frees", Unit::one, lower, exact, measured, "arrays freed by hand again"},
    {"stray_releases", Unit::one, lower, exact, measured, "releases of references that nobody held"},
    {"trims", Unit::one, lower, exact, measured, "blocks trimmed, by steps and by the policy of the memory"},
    {"trimmed_bytes", Unit::bytes, lower, exact, measured, "whole pages that trims took, or asked the group for"},
    {"prefetched_bytes", Unit::bytes, higher, exact, measured, "whole pages that prefetches asked for"},
    {"migrated_bytes", Unit::bytes, higher, exact, measured,
     "pages on the node that a migration asked for, afterwards, by move_pages"},
    {"unmoved_bytes", Unit::bytes, lower, exact, measured, "resident pages that a migration left on another node"},
    {"streamed_bytes", Unit::bytes, higher, exact, measured, "bytes that streams went through"},
    {"stream_bandwidth", Unit::bytes_per_second, higher, noisy, measured, "of streams, dropping behind included"},
    {"shared_bytes", Unit::bytes, higher, exact, measured, "bytes that a second process read and checked"},
    {"share_wrong_bytes", Unit::bytes, lower, exact, measured, "of these, other than what was written"},
    {"share_bandwidth", Unit::bytes_per_second, higher, noisy, measured,
     "at which a second process read what this one had just written"},
    {"share_latency", Unit::seconds, lower, noisy, measured,
     "from a store in one process to its sight in the other: half of a round trip"},
    {"time_per_transfer", Unit::seconds, lower, noisy, derived, "of transfer steps: time of all over their number"},
    {"transfer_wrong_bytes", Unit::bytes, lower, exact, measured, "bytes at the ends other than what was sent"},
    {"transfer_copies", Unit::one, lower, exact, measured,
     "copies that transfer steps asked a processor or a driver for"},
    {"staged_bytes", Unit::bytes, lower, exact, measured, "bytes of transfers that went through pinned slots"},
    {"transfer_retries", Unit::one, lower, exact, measured, "transfers begun again after a fault of the driver"},
    {"transfer_memory_time", Unit::seconds, lower, noisy, measured,
     "time to get the memory of both ends of transfers, placed, touched and pinned"},
    {"transfer_register_time", Unit::seconds, lower, noisy, measured,
     "of transfers by strategy registered: time to make host memory known to the driver, and to give it back"},
    {"transfer_wait_time", Unit::seconds, lower, noisy, measured,
     "time the program had nothing to do but wait for transfers"},
    {"transfer_overlap", Unit::one, higher, noisy, derived,
     "of staged transfers: share of the shorter of copying into slots and moving on that the longer hid"},
    {"transfers_at_once", Unit::one, higher, noisy, derived, "transfers under way at a time, on average"},
    {"concurrency_benefit", Unit::one, higher, noisy, derived,
     "(sum of the times of the transfers - time of all) / that sum"},
    {"pinned_bytes_peak", Unit::bytes, lower, exact, measured, "memory that transfers had pinned at a time"},
    {"passed_arrays", Unit::one, higher, exact, measured, "arrays handed from the thread that made them to another"},
    {"operations", Unit::one, lower, exact, measured, "what time_per_op counts: arrays allocated, or calls timed"},
    {"time_per_event", Unit::seconds, lower, noisy, derived,
     "of replay steps: time of a thread per event, from its first event to its last, over all threads"},
    {"dispatch_per_event", Unit::seconds, lower, noisy, derived,
     "the same events on no memory at all, before the baseline: what the replay itself costs"},
    {"events", Unit::one, lower, exact, measured, "allocations, frees, resizes and transfers replayed"},
    {"transferred_bytes", Unit::bytes, lower, exact, measured,
     "bytes that transfers moved, and those of replays copied"},
    {"retained_0s", Unit::bytes, lower, noisy, derived,
     "resident set above the baseline at the sample of this name: all was freed just before"},
    {"retained_100ms", Unit::bytes, lower, noisy, derived, "the same, 100 ms later"},
    {"retained_1s", Unit::bytes, lower, noisy, derived, "the same, 1 s later"},
    {"retained_5s", Unit::bytes, lower, noisy, derived, "the same, 5 s later"},
    {"retained_trimmed", Unit::bytes, lower, noisy, derived, "the same, after the allocator was asked to give back"},
    {"realized_fragmentation", Unit::one, lower, noisy, derived,
     "of a replay: highest resident set above the baseline over the most bytes live, less 1"},
    {"allocate_time_p50", Unit::seconds, lower, noisy, measured,
     "median time of an allocating call in replays that time every call, to a quarter of a doubling"},
    {"allocate_time_p99", Unit::seconds, lower, noisy, measured, "the same, of the slowest in a hundred"},
    {"allocate_time_max", Unit::seconds, lower, noisy, measured, "the same, of the slowest"},
    {"release_time_p50", Unit::seconds, lower, noisy, measured, "the same of a freeing call, the median"},
    {"release_time_p99", Unit::seconds, lower, noisy, measured, "the same, of the slowest in a hundred"},
    {"release_time_max", Unit::seconds, lower, noisy, measured, "the same, of the slowest"},
    {"fault_time", Unit::seconds, lower, noisy, derived,
     "minor faults in the timed steps, each kind by what it costs beside the repetition"},
    {"allocator_time", Unit::seconds, lower, noisy, measured,
     "time of the program's thread in allocate and deallocate calls of 64 KiB and more, in the timed steps"},
    {"collector_wait_time", Unit::seconds, lower, noisy, measured,
     "time the program waited for a collection, a finalizer or memory under a cap, in the timed steps"},
    {"run_delay_time", Unit::seconds, lower, noisy, measured,
     "time the program's thread was ready to run and waited for a processor, in the timed steps"},
    {"other_time", Unit::seconds, lower, noisy, derived,
     "wall_time less fault, allocator, collector wait and run delay time"},
    {"fault_cost", Unit::seconds, lower, noisy, measured,
     "first write to a fresh base page, all of it, beside the repetition, on this machine"},
    {"huge_fault_cost", Unit::seconds, lower, noisy, measured, "the same of a transparent huge page"},
    {"shared_fault_cost", Unit::seconds, lower, noisy, measured, "the same of a base page of shared memory"},
    {"refault_cost", Unit::seconds, lower, noisy, measured,
     "the same where shared memory has the page and lacks its page-table entry, as after a soft trim"},
    {"bandwidth", Unit::bytes_per_second, higher, noisy, measured,
     "of a kernel: bytes that the program reads and writes (STREAM's convention); of a transfer: bytes that arrive"},
    {"payload_bandwidth", Unit::bytes_per_second, higher, noisy, derived, "bytes of a kernel's result, counted once"},
    {"bus_bandwidth", Unit::bytes_per_second, higher, noisy, derived,
     "bytes of a kernel on the bus, with the lines that plain stores read before they write them"},
    {"ceiling_share", Unit::one, higher, noisy, derived,
     "bandwidth over the best of its kind (copy and memcpy, write and memset are of one kind) with as many threads"},
    {"latency", Unit::seconds, lower, noisy, measured, "of one load of a chain in which each gives the next's address"},
    {"time_per_fault", Unit::seconds, lower, noisy, measured,
     "of a page that faults on its first write, less what writing it costs when it is there"},
});

constexpr std::array<MetricInfo, 9> point_metrics{{
    {"live_bytes", Unit::bytes, lower, exact, measured, "acquired minus released, by exact counters"},
    {"floating_bytes", Unit::bytes, lower, exact, measured, "live natively but unreachable for the program"},
    {"working_set", Unit::bytes, lower, noisy, measured, "resident set, huge pages included"},
    {"working_set_delta", Unit::bytes, lower, noisy, derived, "working_set against the repetition's baseline"},
    {"minor_faults", Unit::one, lower, noisy, measured, "since the repetition began, samples excluded"},
    {"major_faults", Unit::one, lower, noisy, measured, "since the repetition began, samples excluded"},
    {"queue_depth", Unit::one, lower, noisy, measured, "arrays found unreachable and waiting for release"},
    {"pool_idle_bytes", Unit::bytes, lower, exact, measured, "held by a pool, in use by nobody"},
    {"huge_page_bytes", Unit::bytes, Better::higher, noisy, measured,
     "transparent huge pages (AnonHugePages) against the baseline"},
}};

}  // namespace

std::span<const MetricInfo> metric_catalog()
{
    return metrics;
}

std::span<const MetricInfo> point_catalog()
{
    return point_metrics;
}

const MetricInfo* find_metric(std::span<const MetricInfo> catalog, std::string_view name)
{
    const auto found = std::ranges::find(catalog, name, &MetricInfo::name);
    return found == catalog.end() ? nullptr : &*found;
}

bool describes_machine(std::string_view metric)
{
    return metric == "fault_cost" || metric == "huge_fault_cost" || metric == "shared_fault_cost" ||
           metric == "refault_cost";
}

bool explains_time(std::string_view metric)
{
    return metric == "fault_time" || metric == "allocator_time" || metric == "collector_wait_time" ||
           metric == "run_delay_time" || metric == "other_time";
}

}  // namespace memsweep::model
