#include "core/measure/mode_contrast.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/measure/case_values.hpp"
#include "core/measure/format.hpp"
#include "core/measure/held_memory.hpp"
#include "core/measure/mode_groups.hpp"
#include "core/measure/pairing.hpp"
#include "core/measure/thresholds.hpp"
#include "core/measure/time_contrast.hpp"

namespace memsweep::measure {
namespace {

using model::CaseReport;

constexpr std::size_t most_sentences = 8;
constexpr Threshold peak_threshold{0.02, 1024.0 * 1024.0};  // the default of the working set

// What is told against which value: a trim against none, a copy against a view.
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

void add_contrasts(const std::vector<ModeGroup>& groups, std::string_view axis, bool with_scenario,
                   std::vector<CaseContrast>& all)
{
    for (const ModeGroup& group : groups) {
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
    const std::string count = fmt::format("{} more case{}", rest.size(), rest.size() == 1 ? "" : "s");
    const bool modes_only = std::ranges::all_of(rest, [](const auto& one) { return one.axis == mode_axis; });
    const std::string_view what = modes_only ? " of other release modes" : "";
    if (factors.empty()) {
        return fmt::format("{}{}", count, what);
    }
    const auto [low, high] = std::ranges::minmax(factors);
    return fmt::format("{}{}: {}x to {}x the time of their base", count, what, format_factor(low), format_factor(high));
}

}  // namespace

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
    const std::size_t shown = std::min(all.size(), most_sentences);
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

}  // namespace memsweep::measure
