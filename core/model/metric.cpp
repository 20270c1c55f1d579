#include "core/model/metric.hpp"

#include <algorithm>
#include <array>

#include "core/model/metric_id.hpp"

namespace memsweep::model {

namespace {

using enum ShownAt;

constexpr std::array<MetricInfo, metric_count> catalog{{
#define MEMSWEEP_METRIC(name, unit, better, metric_class, provenance, role, meaning, ...)                              \
    {#name,                                                                                                            \
     Unit::unit,                                                                                                       \
     Better::better,                                                                                                   \
     MetricClass::metric_class,                                                                                        \
     Provenance::provenance,                                                                                           \
     Role::role,                                                                                                       \
     meaning __VA_OPT__(, ) __VA_ARGS__},
#include "core/model/metrics.inc"
#undef MEMSWEEP_METRIC
}};

constexpr std::array<MetricInfo, 9> point_metrics{{
    {"live_bytes", Unit::bytes, Better::lower, MetricClass::exact, Provenance::measured, Role::outcome,
     "acquired minus released, by exact counters"},
    {"floating_bytes", Unit::bytes, Better::lower, MetricClass::exact, Provenance::measured, Role::outcome,
     "live natively but unreachable for the program"},
    {"working_set", Unit::bytes, Better::lower, MetricClass::noisy, Provenance::measured, Role::outcome,
     "resident set, huge pages included"},
    {"working_set_delta", Unit::bytes, Better::lower, MetricClass::noisy, Provenance::derived, Role::outcome,
     "working_set against the repetition's baseline"},
    {"minor_faults", Unit::one, Better::lower, MetricClass::noisy, Provenance::measured, Role::outcome,
     "since the repetition began, samples excluded"},
    {"major_faults", Unit::one, Better::lower, MetricClass::noisy, Provenance::measured, Role::outcome,
     "since the repetition began, samples excluded"},
    {"queue_depth", Unit::one, Better::lower, MetricClass::noisy, Provenance::measured, Role::outcome,
     "arrays found unreachable and waiting for release"},
    {"pool_idle_bytes", Unit::bytes, Better::lower, MetricClass::exact, Provenance::measured, Role::outcome,
     "held by a pool, in use by nobody"},
    {"huge_page_bytes", Unit::bytes, Better::higher, MetricClass::noisy, Provenance::measured, Role::outcome,
     "transparent huge pages (AnonHugePages) against the baseline"},
}};

}  // namespace

std::span<const MetricInfo> metric_catalog()
{
    return catalog;
}

std::span<const MetricInfo> point_catalog()
{
    return point_metrics;
}

const MetricInfo* find_metric(std::span<const MetricInfo> among, std::string_view name)
{
    const auto found = std::ranges::find(among, name, &MetricInfo::name);
    return found == among.end() ? nullptr : &*found;
}

std::optional<MetricId> metric_id(std::string_view name)
{
    const MetricInfo* const found = find_metric(catalog, name);
    return found == nullptr ? std::nullopt : std::optional{static_cast<MetricId>(found - catalog.data())};
}

Shown shown_of(std::string_view metric)
{
    const MetricInfo* const found = find_metric(catalog, metric);
    return found == nullptr ? Shown{} : found->shown;
}

std::vector<const MetricInfo*> shown_at(std::initializer_list<ShownAt> places)
{
    std::vector<const MetricInfo*> found;
    for (const MetricInfo& metric : catalog) {
        if (std::ranges::find(places, metric.shown.at) != places.end()) {
            found.push_back(&metric);
        }
    }
    std::ranges::stable_sort(found, {}, [](const MetricInfo* one) { return one->shown.rank; });
    return found;
}

std::string heading_of(const MetricInfo& metric)
{
    std::string text{metric.shown.heading.empty() ? metric.name : metric.shown.heading};
    std::ranges::replace(text, '_', ' ');
    return text;
}

Role role_of(std::string_view metric)
{
    const MetricInfo* const found = find_metric(catalog, metric);
    return found == nullptr ? Role::outcome : found->role;
}

}  // namespace memsweep::model
