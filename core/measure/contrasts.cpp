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
#include "core/model/plan.hpp"

namespace memsweep::measure {
namespace {

using model::CaseReport;

constexpr double min_working_set_difference = 1024.0 * 1024.0;
constexpr double min_drain_time = 1e-6;  // a drain that found nothing takes only its clock readings

struct Held {
    std::string_view point;
    double bytes{};
};

std::vector<Held> floating_at_points(const CaseReport& other)
{
    std::vector<Held> held;
    for (const std::string_view point : point_names(other)) {
        if (const auto bytes = case_median(other, point, "floating_bytes")) {
            held.push_back({point, *bytes});
        }
    }
    return held;
}

std::vector<Held> resident_above_base(const CaseReport& base, const CaseReport& other)
{
    std::vector<Held> held;
    for (const std::string_view point : point_names(other)) {
        const auto here = case_median(other, point, "working_set_delta");
        const auto there = case_median(base, point, "working_set_delta");
        if (here && there) {
            const double more = *here - *there;
            held.push_back({point, more >= min_working_set_difference ? more : 0});
        }
    }
    return held;
}

// "after_drop" is a time of its own; any other name needs "at".
std::string when(std::string_view point)
{
    const bool timely = point.starts_with("after_") || point.starts_with("before_");
    return timely ? spoken(std::string{point}) : fmt::format("at {}", point);
}

// Samples are taken at points: all that is known is that it happened between two of them, by its own or at a drain.
std::string release_text(const CaseReport& other, std::string_view last_held, std::string_view first_without)
{
    const auto drain = case_median(other, {}, "drain_time");
    const std::string took = drain && *drain >= min_drain_time
                                 ? fmt::format(" (drains took {})", base::format_duration(*drain))
                                 : std::string{};
    return fmt::format("; released between the samples {} and {}{}", last_held, first_without, took);
}

// Arrays that were never written hold address space, not memory.
std::string resident_text(const CaseReport& other, const Held& first)
{
    const auto resident = case_median(other, first.point, "working_set_delta");
    return resident && *resident < first.bytes / 2
               ? fmt::format(" (only {} resident)", base::format_size(std::max(0.0, *resident)))
               : std::string{};
}

std::string holding_text(const CaseReport& other, const std::vector<Held>& held, std::string_view than)
{
    const auto holds = [](const Held& at) { return at.bytes > 0; };
    const auto first = std::ranges::find_if(held, holds);
    if (first == held.end()) {
        return {};
    }
    const auto released = std::find_if_not(first, held.end(), holds);
    const Held& last = *(released - 1);
    std::string text = fmt::format("holds {}{} {}{}", base::format_size(first->bytes), than, when(first->point),
                                   resident_text(other, *first));
    if (last.point != first->point) {
        text += fmt::format(" and still {} {}", base::format_size(last.bytes), when(last.point));
    }
    return released == held.end() ? text : text + release_text(other, last.point, released->point);
}

constexpr std::size_t max_sentences = 8;
constexpr Threshold peak_threshold{0.02, 1024.0 * 1024.0};  // the default of the working set

// The base of an axis: a trim is contrasted with none, a copy with a view.
struct BaseOf {
    std::string_view axis, value;
};
constexpr std::array<BaseOf, 2> other_axes{{{"trim", "none"}, {"copy", "false"}}};

std::string peak_part(const CaseReport& base, std::string_view base_mode, const CaseReport& other)
{
    for (const std::string_view metric : {"working_set_peak", "live_bytes_peak"}) {
        const auto from = case_median(base, {}, metric);
        const auto to = case_median(other, {}, metric);
        if (from && to) {
            return beyond(peak_threshold, *from, *to - *from)
                       ? fmt::format("{} {} against {}'s {}", spoken(std::string{metric}),
                                     format_value(model::Unit::bytes, *to), base_mode,
                                     format_value(model::Unit::bytes, *from))
                       : std::string{};
        }
    }
    return {};
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
    const std::string base_name = name_on(base, axis);
    CaseContrast result{axis, &base, &other, time_contrast(base, other), {}, {}};
    const auto& time = result.time;
    if (time && is_slower(*time)) {
        result.attribution = attribute(base, other);
    }
    std::vector<std::string> parts{time ? time_part(*time, base_name) : std::string{},
                                   result.attribution ? cause_text(*result.attribution) : std::string{},
                                   held_part(base, base_name, other), peak_part(base, base_name, other)};
    std::erase(parts, std::string{});
    if (!parts.empty()) {
        result.sentence = fmt::format("{}: {}", subject(other, axis, with_scenario), fmt::join(parts, "; "));
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

double distance(const CaseContrast& contrast)
{
    return contrast.time ? std::fabs(std::log(contrast.time->ratio.estimate)) : 0;
}

std::string rest_sentence(std::span<const CaseContrast> rest)
{
    std::vector<double> factors;
    for (const CaseContrast& one : rest) {
        if (one.time) {
            factors.push_back(one.time->ratio.estimate);
        }
    }
    const std::string count = counted(rest.size(), "more case");
    const bool modes_only = std::ranges::all_of(rest, [](const auto& one) { return one.axis == mode_axis; });
    const std::string_view what = modes_only ? " of other release modes" : "";
    if (factors.empty()) {
        return fmt::format("{}{}", count, what);
    }
    const auto [low, high] = std::ranges::minmax(factors);
    return fmt::format("{}{}: {}x to {}x the time of their base", count, what, format_factor(low), format_factor(high));
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
    return case_median(report, {}, "time_per_op").has_value();
}

std::string_view time_metric(const CaseReport& report)
{
    return per_op(report) ? "time_per_op" : "wall_time";
}

PlacedTime placed_time(const CaseReport& report)
{
    return {case_median(report, {}, time_metric(report)),
            case_median(report, {}, per_op(report) ? "faults_per_op" : "minor_faults")};
}

std::optional<Shift> ratio_of(const CaseReport& alone, const CaseReport& placed)
{
    const auto shift = case_shift(alone, placed, time_metric(alone));
    return shift && shift->is_ratio ? shift : std::nullopt;
}

std::string why_not_measured(const CaseReport& report)
{
    return fmt::format("{} is {}{}", *placement_of(report), model::name_of(report.status),
                       report.reason.empty() ? "" : ": " + report.reason);
}

void split(PlacementContrast& contrast)
{
    const PlacedTime& alone = contrast.time_alone;
    const PlacedTime& placed = contrast.time_placed;
    if (!contrast.ratio || !alone.faults || !placed.faults) {
        contrast.reason = why_not_measured(alone.seconds ? *contrast.placed : *contrast.alone);
        return;
    }
    const double faults = *placed.faults - *alone.faults;
    const double seconds = *placed.seconds - *alone.seconds;
    if (std::fabs(faults) < min_faults) {
        contrast.reason = "the faults do not differ";
    } else if (faults * seconds <= 0) {
        contrast.reason = faults > 0 ? "more faults, but no more time" : "fewer faults, but no less time";
    } else {
        contrast.seconds_per_fault = seconds / faults;
    }
}

std::string case_name(const CaseReport& report)
{
    const auto rest = params_without(report, std::array{model::placement_axis, mode_axis});
    return rest.empty() ? report.scenario : fmt::format("{}", fmt::join(rest, ", "));
}

// Of the case that the sweep slows down most, where that is shown.
std::string cause_text_of(const PlacementContrast& contrast)
{
    const auto& interval = contrast.ratio->interval;
    const std::string cause =
        interval && (*interval)[0] > 1 ? cause_of(*contrast.alone, *contrast.placed) : std::string{};
    return cause.empty() ? std::string{} : fmt::format("; in {} {}", case_name(*contrast.placed), cause);
}

std::string sentence(const std::string& subject, const std::vector<const PlacementContrast*>& all)
{
    double logs = 0;
    for (const PlacementContrast* one : all) {
        logs += std::log(one->ratio->estimate);
    }
    const auto estimate = [](const PlacementContrast* one) { return one->ratio->estimate; };
    const auto [low, high] = std::ranges::minmax(all, {}, estimate);
    const std::string mean = format_factor(std::exp(logs / static_cast<double>(all.size())));
    if (all.size() == 1) {
        return fmt::format("{}: {}x the time alone ({}){}", subject, mean, case_name(*low->placed),
                           cause_text_of(*low));
    }
    return fmt::format("{}: {}x the time alone over {} cases (geometric mean), from {}x ({}) to {}x ({}){}", subject,
                       mean, all.size(), format_factor(estimate(low)), case_name(*low->placed),
                       format_factor(estimate(high)), case_name(*high->placed), cause_text_of(*high));
}

}  // namespace

std::string held_part(const CaseReport& base, std::string_view base_mode, const CaseReport& other)
{
    if (const std::vector<Held> floating = floating_at_points(other); !floating.empty()) {
        return holding_text(other, floating, {});
    }
    if (const std::vector<Held> resident = resident_above_base(base, other); !resident.empty()) {
        return holding_text(other, resident, fmt::format(" more than {}", base_mode));
    }
    const auto peak = case_median(other, {}, "floating_bytes_peak");
    return peak && *peak > 0 ? fmt::format("up to {} dropped but not yet released", base::format_size(*peak))
                             : std::string{};
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
    std::erase_if(all, [](const CaseContrast& one) { return one.sentence.empty(); });
    return all;
}

std::vector<std::string> contrast_sentences(std::span<const CaseReport> cases)
{
    std::vector<CaseContrast> all = case_contrasts(cases);
    const std::size_t shown = std::min(all.size(), max_sentences);
    if (all.size() > shown) {
        std::ranges::stable_sort(all, std::greater{}, distance);
    }
    std::vector<std::string> sentences;
    std::ranges::transform(std::span{all}.first(shown), std::back_inserter(sentences), &CaseContrast::sentence);
    if (all.size() > shown) {
        sentences.push_back(rest_sentence(std::span{all}.subspan(shown)));
    }
    return sentences;
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
            PlacementContrast& contrast = contrasts.emplace_back(PlacementContrast{base->second,
                                                                                   one,
                                                                                   placed_time(*base->second),
                                                                                   placed_time(*one),
                                                                                   ratio_of(*base->second, *one),
                                                                                   {},
                                                                                   {}});
            split(contrast);
        }
    }
    return contrasts;
}

std::vector<std::string> placement_sentences(std::span<const CaseReport> cases)
{
    std::vector<const CaseReport*> pointers;
    std::ranges::transform(cases, std::back_inserter(pointers), [](const CaseReport& one) { return &one; });
    const std::vector<PlacementContrast> contrasts = placement_contrasts(pointers);
    std::vector<std::pair<std::string, std::vector<const PlacementContrast*>>> subjects;
    for (const PlacementContrast& one : contrasts) {
        if (!one.ratio) {
            continue;
        }
        const auto mode = mode_of(*one.placed);
        const bool drained = *placement_of(*one.placed) == model::name_of(model::Placement::drain);
        const std::string subject = fmt::format("{}in a {}sweep", mode ? *mode + " " : "", drained ? "drained " : "");
        auto found = std::ranges::find(subjects, subject, &decltype(subjects)::value_type::first);
        if (found == subjects.end()) {
            found = subjects.insert(subjects.end(), {subject, {}});
        }
        found->second.push_back(&one);
    }
    std::vector<std::string> sentences;
    for (const auto& [subject, all] : subjects) {
        sentences.push_back(sentence(subject, all));
    }
    return sentences;
}

}  // namespace memsweep::measure
