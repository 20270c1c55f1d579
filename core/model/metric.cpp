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

constexpr std::array<MetricInfo, 38> metrics{{
    {"wall_time", Unit::seconds, lower, noisy, measured, "time of the timed steps; samples are never part of it"},
    {"cpu_time", Unit::seconds, lower, noisy, measured, "user and system time of the whole worker over the same steps"},
    {"time_per_op", Unit::seconds, lower, noisy, derived, "wall_time per array allocated in the timed steps"},
    {"working_set_peak", Unit::bytes, lower, noisy, measured, "highest resident set (VmHWM, huge pages included)"},
    {"working_set_peak_delta", Unit::bytes, lower, noisy, derived, "working_set_peak above the repetition's baseline"},
    {"residual_working_set", Unit::bytes, lower, noisy, derived, "resident set at the end minus the baseline"},
    {"live_bytes_peak", Unit::bytes, lower, exact, measured, "most bytes acquired and not released, by exact counters"},
    {"floating_bytes_peak", Unit::bytes, lower, exact, measured,
     "most bytes live natively but unreachable for the program"},
    {"minor_faults", Unit::one, lower, noisy, measured, "page faults served without I/O, samples excluded"},
    {"major_faults", Unit::one, lower, noisy, measured, "page faults that needed I/O, samples excluded"},
    {"faults_per_op", Unit::one, lower, noisy, derived, "minor faults per array allocated"},
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
    {"outstanding", Unit::one, lower, exact, measured, "arrays acquired and not released at the end"},
    {"checksum", Unit::one, lower, exact, measured, "of everything read; must not depend on when memory is released"},
    {"use_after_free", Unit::one, lower, exact, measured, "accesses to freed memory that were noticed"},
    {"double_frees", Unit::one, lower, exact, measured, "arrays freed by hand again"},
    {"stray_releases", Unit::one, lower, exact, measured, "releases of references that nobody held"},
    {"fault_cost", Unit::seconds, lower, noisy, measured,
     "first write to a fresh base page, beside the repetition, on this machine"},
}};

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
    return metric == "fault_cost";
}

}  // namespace memsweep::model
