#include "reporters/wording/finding_words.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/quantity.hpp"
#include "core/measure/format.hpp"
#include "core/measure/history.hpp"
#include "core/model/plan.hpp"
#include "reporters/wording/comparison_words.hpp"
#include "reporters/wording/history_words.hpp"
#include "reporters/wording/probe_words.hpp"
#include "reporters/wording/reason_words.hpp"
#include "reporters/wording/replay_words.hpp"
#include "reporters/wording/shift_words.hpp"
#include "reporters/wording/site_words.hpp"
#include "reporters/wording/time_words.hpp"

namespace memsweep::reporters {
namespace {

using measure::counted;
using measure::Finding;
using measure::FindingKind;
using measure::format_factor;
using measure::format_value;
using measure::Held;
using measure::MetricEffect;
using measure::PlacementCost;
using measure::spoken;

std::string cases_text(const Finding& finding, std::string_view verb)
{
    const std::string reason = finding.words.empty() ? std::string{} : ": " + finding.words;
    return finding.count == 1 ? fmt::format("{} {}{}", finding.case_id, verb, reason)
                              : fmt::format("{} cases {}, first {}{}", finding.count, verb, finding.case_id, reason);
}

std::string assertion_text(const Finding& finding)
{
    const MetricEffect& actual = finding.metrics.front();
    const std::string what = fmt::format("{} {}", finding.subject, actual.value ? "does not hold" : "cannot be judged");
    const std::string detail =
        actual.value ? fmt::format("it is {}", format_value(actual.unit, *actual.value)) : finding.words;
    if (finding.count > 1) {
        return fmt::format("{} for {} cases, first {} ({})", what, finding.count, finding.case_id, detail);
    }
    return finding.case_id.empty() ? fmt::format("{}: {}", what, detail)
                                   : fmt::format("{} for {}: {}", what, finding.case_id, detail);
}

// "1.07 ± 0.02", with half the width of the 95 % interval; "4.19 (1.20 to 9.80)", if the estimate is not in its middle.
std::string with_spread(double estimate, double low, double high)
{
    constexpr double middle = 0.25;  // of half the width
    const double half = (high - low) / 2;
    return std::abs((low + high) / 2 - estimate) <= middle * half
               ? fmt::format("{:.2f} ± {:.2f}", estimate, half)
               : fmt::format("{:.2f} ({:.2f} to {:.2f})", estimate, low, high);
}

// "sort ran 1.07 ± 0.02 times faster than sort -u"; in per cent if a factor would read 1.00.
std::string ranking_text(const Finding& finding)
{
    constexpr double least_factor = 1.005;
    const measure::Shift& shift = *finding.metrics.front().effect;
    const bool is_factor = shift.estimate >= least_factor;
    if (!shift.interval) {
        return is_factor ? fmt::format("{} ran {:.2f} times faster than {}, by too few repetitions to be sure",
                                       finding.subject, shift.estimate, finding.base)
                         : fmt::format("{} ran as fast as {}, by too few repetitions to be sure", finding.subject,
                                       finding.base);
    }
    const auto& [low, high] = *shift.interval;
    const std::string times = with_spread(shift.estimate, low, high);
    if (low <= 1) {
        return fmt::format("{} and {} are not shown to differ in time: {} times", finding.subject, finding.base, times);
    }
    return is_factor
               ? fmt::format("{} ran {} times faster than {}", finding.subject, times, finding.base)
               : fmt::format("{} ran {} % faster than {}", finding.subject,
                             with_spread((shift.estimate - 1) * 100, (low - 1) * 100, (high - 1) * 100), finding.base);
}

std::string short_program_text(const Finding& finding)
{
    constexpr double nothing_else = 1.1;
    const MetricEffect& wall_time = finding.metrics.front();
    const std::string others =
        finding.count > 1 ? fmt::format(" (the shortest of {} so short)", counted(finding.count, "case")) : "";
    const std::string takes =
        fmt::format("{} takes {}{}", finding.case_id, base::format_duration(*wall_time.value), others);
    const std::string cost = base::format_duration(*wall_time.base_value);
    return *wall_time.value > nothing_else * *wall_time.base_value
               ? fmt::format("{}, of which {} go into starting any program: the programs differ more than their "
                             "wall_time",
                             takes, cost)
               : fmt::format("{}, hardly more than starting any program does ({}): its wall_time says nothing of what "
                             "it does",
                             takes, cost);
}

// "after_drop" is a time of its own; any other name needs "at".
std::string when(std::string_view point)
{
    const bool timely = point.starts_with("after_") || point.starts_with("before_");
    return timely ? spoken(std::string{point}) : fmt::format("at {}", point);
}

// Samples are taken at points: all that is known is that it happened between two of them, by its own or at a drain.
std::string release_text(const Held& held)
{
    constexpr double min_drain_seconds = 1e-6;  // a drain that found nothing takes only its clock readings
    const std::string took = held.drain_seconds && *held.drain_seconds >= min_drain_seconds
                                 ? fmt::format(" (drains took {})", base::format_duration(*held.drain_seconds))
                                 : std::string{};
    return fmt::format("; released between the samples {} and {}{}", held.last.point, held.released_at, took);
}

std::string peak_part(const MetricEffect& peak, std::string_view base_name)
{
    return fmt::format("{} {} against {}'s {}", spoken(peak.metric), format_value(peak.unit, *peak.value), base_name,
                       format_value(peak.unit, *peak.base_value));
}

std::string more_contrasts_text(const Finding& finding)
{
    const std::string count = counted(finding.count, "more case");
    const std::string_view what = finding.subject == measure::mode_axis ? " of other release modes" : "";
    return finding.metrics.empty() ? count + std::string{what}
                                   : fmt::format("{}{}: {}x to {}x the time of their base", count, what,
                                                 format_factor(finding.metrics.front().effect->estimate),
                                                 format_factor(finding.metrics.back().effect->estimate));
}

std::string case_name(const model::CaseReport& report)
{
    const auto rest = measure::params_without(report, std::array{model::placement_axis, measure::mode_axis});
    return rest.empty() ? report.scenario : fmt::format("{}", fmt::join(rest, ", "));
}

std::vector<std::string> placement_parts(const PlacementCost& cost)
{
    const std::string mode = cost.mode.empty() ? "" : cost.mode + " ";
    const std::string most = case_name(*cost.most.placed);
    const std::string mean = format_factor(cost.mean);
    const std::string what =
        fmt::format("{}in a {}sweep: {}", mode, cost.is_drained ? "drained " : "",
                    mean == format_factor(1) ? "the time that it takes alone" : mean + "x the time alone");
    std::vector<std::string> parts{
        cost.count == 1 ? fmt::format("{} ({})", what, most)
                        : fmt::format("{} over {} cases (geometric mean), from {}x ({}) to {}x ({})", what, cost.count,
                                      format_factor(cost.least.ratio->estimate), case_name(*cost.least.placed),
                                      format_factor(cost.most.ratio->estimate), most)};
    if (cost.excess) {
        parts.push_back(fmt::format("in {} {}", most, cause_text(*cost.excess)));
    }
    return parts;
}

std::string effect_text(const MetricEffect& metric)
{
    return shift_text(metric.unit, *metric.effect, *metric.base_value, *metric.value);
}

std::string level_text(const Finding& finding, const measure::RunPlace& place)
{
    const MetricEffect& metric = finding.metrics.front();
    const std::string what = *metric.verdict == measure::Verdict::informational
                                 ? "the machine itself changed: " + metric.metric
                                 : fmt::format("{} {}", metric.metric, model::name_of(*metric.verdict));
    return fmt::format("{}: {} {} from {} on ({})", finding.case_id, what, effect_text(metric), run_text(place),
                       place.name);
}

std::string more_levels_text(const Finding& finding)
{
    const measure::Verdict verdict = *finding.metrics.front().verdict;
    return fmt::format("{} more {}; the table of changes has them all", finding.count,
                       verdict == measure::Verdict::informational ? "of the machine" : model::name_of(verdict));
}

std::string busier_text(const Finding& finding)
{
    const std::string more = finding.count > 1 ? fmt::format(" ({} more alike)", finding.count - 1) : std::string{};
    return fmt::format("{}: {} is inconclusive, {}{}", finding.case_id, finding.metrics.front().metric,
                       reason_text(finding.reason), more);
}

// The first part names what all of them are about.
std::vector<std::string> begun_with(const std::string& subject, std::vector<std::string> parts)
{
    if (parts.empty()) {
        return {subject};
    }
    parts.front() = fmt::format("{}: {}", subject, parts.front());
    return parts;
}

std::vector<std::string> contrast_parts(const measure::CaseContrast& contrast)
{
    std::vector<std::string> parts;
    if (contrast.time) {
        parts.push_back(time_part(*contrast.time, contrast.base_name));
    }
    if (contrast.attribution) {
        parts.push_back(cause_text(*contrast.attribution));
    }
    if (contrast.held) {
        parts.push_back(held_part(*contrast.held, contrast.base_name));
    }
    if (contrast.peak) {
        parts.push_back(peak_part(*contrast.peak, contrast.base_name));
    }
    return begun_with(contrast.name, std::move(parts));
}

// At least one: what was found. Causes and other effects follow.
std::vector<std::string> parts_of(const Finding& finding)
{
    switch (finding.kind) {
    case FindingKind::case_error:
        return {cases_text(finding, "broke off")};
    case FindingKind::case_timeout:
        return {cases_text(finding, "timed out")};
    case FindingKind::case_failed:
        return {cases_text(finding, "failed")};
    case FindingKind::case_skipped:
    case FindingKind::over_budget:
        return {cases_text(finding, "skipped")};
    case FindingKind::assertion_failed:
    case FindingKind::assertion_unjudged:
        return {assertion_text(finding)};
    case FindingKind::busy_machine:
        return {finding.words};
    case FindingKind::replay: {
        const auto* const figures = std::get_if<measure::ReplayFigures>(&finding.about);
        return {figures != nullptr ? figures_text(figures->of)
                                   : verdict_text(std::get<measure::ReplayVerdict>(finding.about))};
    }
    case FindingKind::implausible_latency:
    case FindingKind::implausible_chains:
    case FindingKind::implausible_loaded_latency:
        return {contradiction_text(std::get<measure::Contradiction>(finding.about))};
    case FindingKind::probe_bandwidth:
    case FindingKind::probe_stores:
    case FindingKind::probe_zeroes:
    case FindingKind::probe_latency:
    case FindingKind::probe_chains:
    case FindingKind::probe_loaded_latency:
    case FindingKind::probe_faults:
    case FindingKind::device_copies:
    case FindingKind::device_staging:
    case FindingKind::device_loads:
        return {probe_text(finding)};
    case FindingKind::placement_cost:
        return placement_parts(std::get<PlacementCost>(finding.about));
    case FindingKind::contrast:
        return contrast_parts(std::get<measure::CaseContrast>(finding.about));
    case FindingKind::more_contrasts:
        return {more_contrasts_text(finding)};
    case FindingKind::trim:
        return {fmt::format("trim {}: {}", finding.subject, finding.words)};
    case FindingKind::ranking:
        return {ranking_text(finding)};
    case FindingKind::short_program:
        return {short_program_text(finding)};
    case FindingKind::case_regressed:
    case FindingKind::case_changed:
    case FindingKind::case_compared:
        return begun_with(finding.subject, changed_case_parts(finding, std::get<measure::ChangedCase>(finding.about)));
    case FindingKind::site_changes:
        return {sites_text(std::get<measure::ChangedSites>(finding.about).of)};
    case FindingKind::sites_equal:
        return {equal_sites_text(std::get<measure::ChangedSites>(finding.about))};
    case FindingKind::sites_unnamed:
        return {"no call site is named: " + finding.words};
    case FindingKind::more_cases:
        return {fmt::format("{} changed; the tables show which", counted(finding.count, "more case"))};
    case FindingKind::rounds_too_few:
        return {fmt::format("the rounds ended before a change of {} could be told", counted(finding.count, "metric"))};
    case FindingKind::repetitions_too_few:
        return {
            fmt::format("too few repetitions for {0} of {1} noisy metrics: {2} of each side can show a change (-n {2})",
                        finding.count, finding.total, measure::repetitions_needed(finding.total))};
    case FindingKind::busier_machine:
        return {busier_text(finding)};
    case FindingKind::machine_differs:
        return {fmt::format("the machine itself differs: {} is {} in {}, so times may differ for that reason alone",
                            finding.metrics.front().metric, effect_text(finding.metrics.front()), finding.case_id)};
    case FindingKind::level_changed:
        return {level_text(finding, std::get<measure::RunPlace>(finding.about))};
    case FindingKind::more_levels:
        return {more_levels_text(finding)};
    case FindingKind::exact_counters_only:
        return {fmt::format("{} runs show changes of exact counters only: {} are needed for what varies", finding.count,
                            measure::min_runs)};
    case FindingKind::unfinished_runs:
        return {fmt::format("{} of {} runs did not finish; what they measured is shown", finding.count, finding.total)};
    }
    return {std::string{}};
}

}  // namespace

std::string held_part(const Held& held, std::string_view base_name)
{
    if (held.first.point.empty()) {
        return fmt::format("up to {} dropped but not yet released", base::format_size(held.first.bytes));
    }
    std::string text =
        fmt::format("holds {}{} {}", base::format_size(held.first.bytes),
                    held.is_above_base ? fmt::format(" more than {}", base_name) : "", when(held.first.point));
    if (held.resident_bytes) {
        text += fmt::format(" (only {} resident)", base::format_size(*held.resident_bytes));
    }
    if (held.last.point != held.first.point) {
        text += fmt::format(" and still {} {}", base::format_size(held.last.bytes), when(held.last.point));
    }
    return held.released_at.empty() ? text : text + release_text(held);
}

std::string sentence(const measure::CaseContrast& contrast)
{
    return fmt::format("{}", fmt::join(contrast_parts(contrast), "; "));
}

std::string sentence(const Finding& finding)
{
    return fmt::format("{}", fmt::join(parts_of(finding), "; "));
}

std::vector<Statement> statements(std::span<const Finding> findings)
{
    std::vector<Statement> all;
    std::ranges::transform(findings, std::back_inserter(all), [](const Finding& finding) {
        std::vector<std::string> parts = parts_of(finding);
        Statement found{.importance = finding.importance, .text = std::move(parts.front())};
        found.further.assign(std::make_move_iterator(parts.begin() + 1), std::make_move_iterator(parts.end()));
        return found;
    });
    return all;
}

}  // namespace memsweep::reporters
