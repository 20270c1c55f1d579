#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/quantity.hpp"
#include "core/measure/cases.hpp"
#include "core/measure/contrasts.hpp"
#include "core/measure/format.hpp"
#include "core/measure/time_contrast.hpp"
#include "core/measure/verdict.hpp"
#include "core/model/metric_id.hpp"
#include "core/model/plan.hpp"

namespace memsweep::measure {
namespace {

using model::CaseReport;

constexpr double min_working_set_difference = 1024.0 * 1024.0;

std::vector<Held::Sample> floating_at_points(const CaseReport& other)
{
    std::vector<Held::Sample> samples;
    for (const std::string_view point : point_names(other)) {
        if (const auto bytes = case_median(other, point, "floating_bytes")) {
            samples.push_back({std::string{point}, *bytes});
        }
    }
    return samples;
}

std::vector<Held::Sample> resident_above_base(const CaseReport& base, const CaseReport& other)
{
    std::vector<Held::Sample> samples;
    for (const std::string_view point : point_names(other)) {
        const auto here = case_median(other, point, "working_set_delta");
        const auto there = case_median(base, point, "working_set_delta");
        if (here && there) {
            const double more = *here - *there;
            samples.push_back({std::string{point}, more >= min_working_set_difference ? more : 0});
        }
    }
    return samples;
}

std::optional<Held> held_of(const CaseReport& other, const std::vector<Held::Sample>& samples)
{
    const auto holds = [](const Held::Sample& at) { return at.bytes > 0; };
    const auto first = std::ranges::find_if(samples, holds);
    if (first == samples.end()) {
        return std::nullopt;
    }
    const auto released = std::find_if_not(first, samples.end(), holds);
    Held held{.first = *first, .last = *(released - 1)};
    const auto resident = case_median(other, first->point, "working_set_delta");
    if (resident && *resident < first->bytes / 2) {
        held.resident_bytes = std::max(0.0, *resident);
    }
    if (released != samples.end()) {
        held.released_at = released->point;
        held.drain_seconds = case_median(other, {}, model::metrics::drain_time);
    }
    return held;
}

constexpr Threshold peak_threshold{0.02, 1024.0 * 1024.0};  // the default of the working set

// The base of an axis: a trim is contrasted with none, a copy with a view.
struct BaseOf {
    std::string_view axis, value;
};
constexpr std::array<BaseOf, 2> other_axes{{{"trim", "none"}, {"copy", "false"}}};

std::optional<MetricEffect> peak_of(const CaseReport& base, const CaseReport& other)
{
    for (const std::string_view metric : {model::metrics::working_set_peak, model::metrics::live_bytes_peak}) {
        const auto from = case_median(base, {}, metric);
        const auto to = case_median(other, {}, metric);
        if (from && to) {
            return beyond(peak_threshold, *from, *to - *from)
                       ? std::optional{MetricEffect{std::string{metric}, model::Unit::bytes, to, from}}
                       : std::nullopt;
        }
    }
    return std::nullopt;
}

// "finalizer", "trim soft": a release mode is known by its name alone.
std::string name_on(const CaseReport& report, std::string_view axis)
{
    const std::string value = value_on(report, axis).value_or("");
    return axis == mode_axis ? value : fmt::format("{} {}", axis, value);
}

std::string subject(const CaseReport& report, std::string_view axis, bool with_scenario)
{
    std::vector<std::string> rest = params_without(report, std::array{axis});
    if (with_scenario) {
        rest.insert(rest.begin(), report.scenario);
    }
    return rest.empty() ? name_on(report, axis) : fmt::format("{} ({})", name_on(report, axis), fmt::join(rest, ", "));
}

CaseContrast contrast(const CaseReport& base, const CaseReport& other, std::string_view axis, bool with_scenario)
{
    CaseContrast result{.axis = axis,
                        .base = &base,
                        .other = &other,
                        .base_name = name_on(base, axis),
                        .name = subject(other, axis, with_scenario),
                        .time = time_contrast(base, other),
                        .attribution = {},
                        .held = held(base, other),
                        .peak = peak_of(base, other)};
    if (result.time && is_slower(*result.time)) {
        result.attribution = attribute(base, other);
    }
    return result;
}

void add_contrasts(const std::vector<CaseGroup>& groups, std::string_view axis, bool with_scenario,
                   std::vector<CaseContrast>& all)
{
    for (const CaseGroup& group : groups) {
        for (const CaseReport* other : group.cases) {
            if (other != group.base) {
                all.push_back(contrast(*group.base, *other, axis, with_scenario));
            }
        }
    }
}

using Key = std::pair<std::string, std::vector<std::string>>;

// Fewer than this are within what a process does by itself.
constexpr double min_faults = 1;

std::optional<std::string> placement_of(const CaseReport& report)
{
    return value_on(report, model::placement_axis);
}

Key key_of(const CaseReport& report)
{
    return {report.scenario, params_without(report, std::array{model::placement_axis})};
}

bool per_op(const CaseReport& report)
{
    return case_median(report, {}, model::metrics::time_per_op).has_value();
}

std::string_view time_metric(const CaseReport& report)
{
    return per_op(report) ? model::metrics::time_per_op : model::metrics::wall_time;
}

PlacedTime placed_time(const CaseReport& report)
{
    return {case_median(report, {}, time_metric(report)),
            case_median(report, {}, per_op(report) ? model::metrics::faults_per_op : model::metrics::minor_faults)};
}

std::optional<Shift> ratio_of(const CaseReport& alone, const CaseReport& placed)
{
    const auto shift = case_shift(alone, placed, time_metric(alone));
    return shift && shift->is_ratio ? shift : std::nullopt;
}

void split(PlacementContrast& contrast)
{
    const PlacedTime& alone = contrast.time_alone;
    const PlacedTime& placed = contrast.time_placed;
    if (!contrast.ratio || !alone.faults || !placed.faults) {
        contrast.without = NoPrice::not_measured;
        contrast.unmeasured = alone.seconds ? contrast.placed : contrast.alone;
        return;
    }
    const double faults = *placed.faults - *alone.faults;
    const double seconds = *placed.seconds - *alone.seconds;
    if (std::fabs(faults) < min_faults) {
        contrast.without = NoPrice::faults_alike;
    } else if (faults * seconds <= 0) {
        contrast.without = faults > 0 ? NoPrice::more_faults_alone : NoPrice::fewer_faults_alone;
    } else {
        contrast.seconds_per_fault = seconds / faults;
    }
}

}  // namespace

std::optional<Held> held(const CaseReport& base, const CaseReport& other)
{
    if (const auto floating = floating_at_points(other); !floating.empty()) {
        return held_of(other, floating);
    }
    if (const auto resident = resident_above_base(base, other); !resident.empty()) {
        auto found = held_of(other, resident);
        if (found) {
            found->is_above_base = true;
        }
        return found;
    }
    const auto peak = case_median(other, {}, model::metrics::floating_bytes_peak);
    const Held::Sample only{{}, peak.value_or(0)};
    return only.bytes > 0 ? std::optional{Held{.first = only, .last = only}} : std::nullopt;
}

std::vector<CaseContrast> case_contrasts(std::span<const CaseReport> cases)
{
    const bool several_scenarios =
        std::ranges::any_of(cases, [&](const CaseReport& one) { return one.scenario != cases.front().scenario; });
    std::vector<CaseContrast> all;
    add_contrasts(mode_groups(cases), mode_axis, several_scenarios, all);
    for (const BaseOf& base : other_axes) {
        add_contrasts(groups_against(cases, base.axis, base.value), base.axis, several_scenarios, all);
    }
    std::erase_if(all, [](const CaseContrast& one) { return !one.time && !one.held && !one.peak; });
    return all;
}

std::vector<PlacementContrast> placement_contrasts(std::span<const CaseReport* const> cases)
{
    const std::string_view alone = model::name_of(model::Placement::alone);
    std::map<Key, const CaseReport*> bases;
    for (const CaseReport* one : cases) {
        if (placement_of(*one) == alone) {
            bases.emplace(key_of(*one), one);
        }
    }
    std::vector<PlacementContrast> contrasts;
    for (const CaseReport* one : cases) {
        const auto placement = placement_of(*one);
        const auto base = placement && *placement != alone ? bases.find(key_of(*one)) : bases.end();
        if (base != bases.end()) {
            const CaseReport& alone_case = *base->second;
            PlacementContrast& contrast =
                contrasts.emplace_back(PlacementContrast{.alone = &alone_case,
                                                         .placed = one,
                                                         .metric = time_metric(alone_case),
                                                         .time_alone = placed_time(alone_case),
                                                         .time_placed = placed_time(*one),
                                                         .ratio = ratio_of(alone_case, *one),
                                                         .seconds_per_fault = {}});
            split(contrast);
        }
    }
    return contrasts;
}

std::vector<PlacementCost> placement_costs(std::span<const CaseReport> cases)
{
    std::vector<const CaseReport*> pointers;
    std::ranges::transform(cases, std::back_inserter(pointers), [](const CaseReport& one) { return &one; });
    std::vector<PlacementCost> costs;
    for (const PlacementContrast& one : placement_contrasts(pointers)) {
        if (!one.ratio) {
            continue;
        }
        const std::string mode = mode_of(*one.placed).value_or("");
        const bool drained = *placement_of(*one.placed) == model::name_of(model::Placement::drain);
        auto cost = std::ranges::find_if(
            costs, [&](const PlacementCost& other) { return other.mode == mode && other.is_drained == drained; });
        if (cost == costs.end()) {
            cost = costs.insert(cost, {.mode = mode, .is_drained = drained, .least = one, .most = one});
        }
        ++cost->count;
        cost->mean += std::log(one.ratio->estimate);
        cost->least = one.ratio->estimate < cost->least.ratio->estimate ? one : cost->least;
        cost->most = one.ratio->estimate >= cost->most.ratio->estimate ? one : cost->most;
    }
    for (PlacementCost& cost : costs) {
        cost.mean = std::exp(cost.mean / static_cast<double>(cost.count));
        const auto& interval = cost.most.ratio->interval;
        if (interval && interval->front() > 1) {
            cost.excess = attribute(*cost.most.alone, *cost.most.placed);
        }
    }
    return costs;
}

}  // namespace memsweep::measure
