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
constexpr auto exact = MetricClass::exact;
constexpr auto noisy = MetricClass::noisy;
constexpr auto measured = Provenance::measured;
constexpr auto derived = Provenance::derived;

constexpr std::array<MetricInfo, 19> metrics{{
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
    {"pages_touched", Unit::one, lower, exact, derived, "base pages that arrays span when they are first written"},
    {"faults_over_expected", Unit::one, lower, noisy, derived,
     "minor faults over the known answer: huge pages present at the last sample plus the remaining pages touched"},
    {"collections", Unit::one, lower, exact, measured, "collections run, asked for or triggered"},
    {"drain_time", Unit::seconds, lower, noisy, measured, "time spent in drain steps"},
    {"queue_depth_peak", Unit::one, lower, noisy, measured, "most arrays found unreachable and waiting for release"},
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
