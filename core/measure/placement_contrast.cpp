#include "core/measure/placement_contrast.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/measure/cases.hpp"
#include "core/measure/format.hpp"
#include "core/measure/summary.hpp"
#include "core/measure/time_contrast.hpp"
#include "core/model/plan.hpp"

namespace memsweep::measure {
namespace {

using model::CaseReport;
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
    const std::vector<double> from = present(case_values(alone, {}, time_metric(alone)));
    const std::vector<double> to = present(case_values(placed, {}, time_metric(placed)));
    const Shift shift = from.empty() || to.empty() ? Shift{} : hodges_lehmann(from, to);
    return shift.is_ratio ? std::optional{shift} : std::nullopt;
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
