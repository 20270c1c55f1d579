#include "core/measure/findings.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/measure/contrasts.hpp"
#include "core/measure/format.hpp"
#include "core/measure/ranking.hpp"
#include "core/measure/replay_verdict.hpp"
#include "core/measure/statistics.hpp"
#include "core/measure/summary.hpp"
#include "core/model/metric_id.hpp"

namespace memsweep::measure {
namespace {

using model::AssertionResult;
using model::CaseReport;
using model::Metric;
using model::Status;
using model::Warning;

// Several cases that say the same thing make one finding.
void add_alike(Finding one, std::string Finding::*thing, std::vector<Finding>& findings)
{
    const auto alike = std::ranges::find_if(findings, [&](const Finding& other) {
        return other.kind == one.kind && other.importance == one.importance && other.*thing == one.*thing;
    });
    if (alike == findings.end()) {
        findings.push_back(std::move(one));
    } else {
        ++alike->count;
    }
}

// A case that was refused for its memory; its reason alone tells it from what this machine lacks.
bool is_above_budget(const CaseReport& one)
{
    return one.status == Status::skipped && one.reason.find("--max-memory") != std::string::npos;
}

void add_status(const std::vector<CaseReport>& cases, Status status, FindingKind kind, Importance importance,
                std::vector<Finding>& findings)
{
    for (const CaseReport& one : cases) {
        if (one.status == status) {
            add_alike({.kind = is_above_budget(one) ? FindingKind::over_budget : kind,
                       .importance = importance,
                       .case_id = one.id,
                       .words = one.reason},
                      &Finding::words, findings);
        }
    }
}

// A violated limit of a case is the reason why the case has failed, with its evidence, and said there.
bool is_said_of_case(const AssertionResult& result, const std::vector<CaseReport>& cases)
{
    const auto of_case = std::ranges::find(cases, result.case_id, &CaseReport::id);
    return result.is_limit && of_case != cases.end() && of_case->status == Status::failed &&
           of_case->reason.find(model::limit_violated + result.expression) != std::string::npos;
}

void add_assertions(const model::RunReport& report, model::Severity severity, Importance importance,
                    std::vector<Finding>& findings)
{
    for (const AssertionResult& result : report.assertions) {
        if (result.outcome == model::AssertionOutcome::failed && result.severity == severity &&
            !is_said_of_case(result, report.cases)) {
            add_alike({.kind = result.actual ? FindingKind::assertion_failed : FindingKind::assertion_unjudged,
                       .importance = importance,
                       .case_id = result.case_id,
                       .subject = result.expression,
                       .metrics = {{.unit = result.unit, .value = result.actual}},
                       .words = result.reason},
                      &Finding::subject, findings);
        }
    }
}

std::vector<Finding> broken(const model::RunReport& report)
{
    std::vector<Finding> found;
    add_status(report.cases, Status::error, FindingKind::case_error, Importance::failure, found);
    add_status(report.cases, Status::timeout, FindingKind::case_timeout, Importance::failure, found);
    add_status(report.cases, Status::failed, FindingKind::case_failed, Importance::failure, found);
    add_assertions(report, model::Severity::fail, Importance::failure, found);
    return found;
}

void add_skipped(const std::vector<CaseReport>& cases, std::vector<Finding>& findings)
{
    add_status(cases, Status::skipped, FindingKind::case_skipped, Importance::note, findings);
}

void add_placements(const std::vector<CaseReport>& cases, std::vector<Finding>& findings)
{
    for (const PlacementCost& cost : placement_costs(cases)) {
        const PlacementContrast& most = cost.most;
        Shift mean = cost.count == 1 ? *most.ratio : Shift{true, cost.mean, {}};
        findings.push_back(
            {.kind = FindingKind::placement_cost,
             .importance = Importance::note,
             .case_id = most.placed->id,
             .base = most.alone->id,
             .metrics = {{.metric = std::string{most.metric}, .unit = model::Unit::seconds, .effect = mean}},
             .count = cost.count,
             .about = cost});
    }
}

constexpr std::size_t max_contrasts = 8;

double distance(const CaseContrast& contrast)
{
    return contrast.time ? std::fabs(std::log(contrast.time->ratio.estimate)) : 0;
}

MetricEffect effect_of(const TimeContrast& time)
{
    return {.metric = std::string{time.metric}, .unit = model::Unit::seconds, .effect = time.ratio};
}

// One finding for the contrasts left out: the least and the largest ratio of times.
Finding rest_of(std::span<const CaseContrast> rest)
{
    Finding finding{.kind = FindingKind::more_contrasts, .importance = Importance::note, .count = rest.size()};
    for (const CaseContrast& one : rest) {
        if (one.time) {
            finding.metrics.push_back(effect_of(*one.time));
        }
    }
    if (!finding.metrics.empty()) {
        const auto [least, most] = std::ranges::minmax(
            finding.metrics, {}, [](const MetricEffect& metric) { return metric.effect->estimate; });
        finding.metrics = {least, most};
    }
    const bool modes_only = std::ranges::all_of(rest, [](const auto& one) { return one.axis == mode_axis; });
    finding.subject = modes_only ? mode_axis : "";
    return finding;
}

// Adds the contrasts with the largest differences in time. If there are more than a few, one finding stands for the
// rest.
void add_contrasts(const std::vector<CaseReport>& cases, std::vector<Finding>& findings)
{
    std::vector<CaseContrast> all = case_contrasts(cases);
    const std::size_t shown = std::min(all.size(), max_contrasts);
    if (all.size() > shown) {
        std::ranges::stable_sort(all, std::greater{}, distance);
    }
    for (const CaseContrast& one : std::span{all}.first(shown)) {
        findings.push_back({.kind = FindingKind::contrast,
                            .importance = Importance::note,
                            .case_id = one.other->id,
                            .base = one.base->id,
                            .subject = one.name,
                            .about = one});
        std::vector<MetricEffect>& metrics = findings.back().metrics;
        if (one.time) {
            metrics.push_back(effect_of(*one.time));
        }
        if (one.peak) {
            metrics.push_back(*one.peak);
        }
    }
    if (all.size() > shown) {
        findings.push_back(rest_of(std::span{all}.subspan(shown)));
    }
}

void add_trims(const std::vector<CaseReport>& cases, std::vector<Finding>& findings)
{
    for (const auto& how : model::names<model::TrimHow>()) {
        const bool used = std::ranges::any_of(cases, [&](const CaseReport& one) {
            return one.repetitions != 0 && std::ranges::find(one.trims, how.value) != one.trims.end();
        });
        if (used) {
            findings.push_back({.kind = FindingKind::trim,
                                .importance = Importance::note,
                                .subject = std::string{how.name},
                                .words = std::string{how.meaning}});
        }
    }
}

// Programs whose time is in good part what starting any program takes.
void add_short_programs(const model::RunReport& report, std::vector<Finding>& findings)
{
    constexpr double enough = 20;
    const std::optional<double> start = start_price(report);
    Finding finding{.kind = FindingKind::short_program, .importance = Importance::note, .count = 0};
    double shortest = 0;
    for (const CaseReport& one : report.cases) {
        const Metric* const time = start ? model::find_metric(one, model::metrics::wall_time) : nullptr;
        if (time == nullptr || !time->summary || time->summary->median >= enough * *start) {
            continue;
        }
        if (++finding.count == 1 || time->summary->median < shortest) {
            shortest = time->summary->median;
            finding.case_id = one.id;
        }
    }
    if (finding.count > 0) {
        finding.metrics = {{.metric = std::string{model::metrics::wall_time},
                            .unit = model::Unit::seconds,
                            .value = shortest,
                            .base_value = start}};
        findings.push_back(std::move(finding));
    }
}

constexpr std::size_t min_for_interval = 6;
constexpr std::size_t min_for_scatter = 5;  // below it the median deviation itself is mostly chance
constexpr std::size_t min_for_drift = 8;
constexpr double drift_limit = 0.6;
constexpr double noise_limit = 0.05;

const Metric* judged_metric(const CaseReport& report)
{
    for (const std::string_view name : {model::metrics::wall_time, model::metrics::time_per_op}) {
        const Metric* metric = model::find_metric(report, name);
        if (metric != nullptr && !present(metric->values).empty()) {
            return metric;
        }
    }
    return nullptr;
}

class Noise {
  public:
    Noise(const CaseReport& report, const Metric& metric)
        : subject_{fmt::format("{}: {}", report.id, metric.name)}, values_{present(metric.values)},
          summary_{*summarize(metric.values)}
    {
    }

    std::vector<Warning> warnings()
    {
        few_repetitions();
        if (!coarse_clock()) {
            outliers(slow_first());
        }
        drift();
        noisy();
        return std::move(warnings_);
    }

  private:
    void warn(std::string code, const std::string& message, std::string hint)
    {
        warnings_.push_back({std::move(code), fmt::format("{} {}", subject_, message), std::move(hint)});
    }

    void few_repetitions()
    {
        if (values_.size() < min_for_interval) {
            warn("few-repetitions", fmt::format("has {}: too few for an interval", counted(values_.size(), "value")),
                 "run at least 6 repetitions (-n 6), 10 to compare results");
        }
    }

    // More than half of the values equal to the last digit: no clock that is fine enough shows that.
    bool coarse_clock()
    {
        const bool coarse = values_.size() >= min_for_scatter && summary_.mad <= 0;
        if (coarse) {
            warn("coarse-clock", fmt::format("is {} in most repetitions, to the last digit", shown(summary_.median)),
                 "the clock is too coarse for a run this short: repeat the timed steps within a repetition");
        }
        return coarse;
    }

    bool slow_first()
    {
        const bool slow =
            values_.size() >= min_for_scatter && values_.front() - summary_.median > outlier_distance * summary_.mad;
        if (slow) {
            warn("slow-first-repetition",
                 fmt::format("took {} in the first repetition, {} in the median", shown(values_.front()),
                             shown(summary_.median)),
                 "caches or page tables were cold: raise --warmup");
        }
        return slow;
    }

    void outliers(bool first_told)
    {
        const std::uint64_t count = summary_.outliers - (first_told ? 1 : 0);
        if (values_.size() >= min_for_scatter && count > 0) {
            warn("outliers",
                 fmt::format("has {} of {} repetitions far from the median {} ({} to {})", count, values_.size(),
                             shown(summary_.median), shown(summary_.min), shown(summary_.max)),
                 "something else ran on this machine: close it, pin CPUs, or raise the repetitions (-n)");
        }
    }

    void drift()
    {
        const auto rho = values_.size() >= min_for_drift ? spearman_with_order(values_) : std::nullopt;
        if (rho && std::fabs(*rho) > drift_limit) {
            warn("drift",
                 fmt::format("{} from repetition to repetition (rank correlation {:+.2f})",
                             *rho > 0 ? "grows" : "shrinks", *rho),
                 "the machine changes while it is measured: let it warm up or cool down, fix its clock frequency, and "
                 "keep "
                 "the interleaved order");
        }
    }

    void noisy()
    {
        if (summary_.mdape && *summary_.mdape > noise_limit) {
            warn("noisy", fmt::format("scatters by {} around its median", format_percent(*summary_.mdape)),
                 "make the timed steps longer, quiet the machine, or raise the repetitions (-n)");
        }
    }

    static std::string shown(double seconds) { return base::format_duration(seconds); }

    std::string subject_;
    std::vector<double> values_;
    model::Summary summary_;
    std::vector<Warning> warnings_;
};

// The lower of two medians, and the higher to tell it against.
MetricEffect extremes(const ReplayVerdict& verdict, std::string_view metric, model::Unit unit)
{
    const WeighedReplay& low = least(verdict.replays, metric);
    const WeighedReplay& high = most(verdict.replays, metric);
    return {.metric = std::string{metric},
            .unit = unit,
            .value = summary_of(low, metric).median,
            .base_value = summary_of(high, metric).median,
            .of = low.report,
            .base = high.report};
}

// Of each verdict itself, and of what it rests on. A case is named where the verdict is to take that one.
void add_replays(std::span<const CaseReport> cases, std::vector<Finding>& found)
{
    for (ReplayVerdict& verdict : replay_verdicts(cases)) {
        Finding figures{.kind = FindingKind::replay, .importance = Importance::note};
        const MetricEffect times = extremes(verdict, replay_time, model::Unit::seconds);
        figures.case_id = times.of->id;
        figures.base = times.base->id;
        figures.metrics.push_back(times);
        for (const std::string_view metric : verdict.unweighed ? std::vector<std::string_view>{} : verdict.memory) {
            figures.metrics.push_back(extremes(verdict, metric, model::Unit::bytes));
        }
        figures.about = ReplayFigures{verdict};
        const bool takes_one = verdict.answer == ReplayAnswer::take && verdict.chosen.size() == 1;
        found.push_back({.kind = FindingKind::replay,
                         .importance = Importance::note,
                         .case_id = takes_one ? verdict.chosen.front().report->id : std::string{},
                         .about = std::move(verdict)});
        found.push_back(std::move(figures));
    }
}

}  // namespace

std::optional<double> start_price(const model::RunReport& report)
{
    std::optional<double> price = report.calibration.harness_seconds_per_run;
    for (const CaseReport& one : report.cases) {
        const Metric* const time = price ? model::find_metric(one, model::metrics::wall_time) : nullptr;
        for (const double seconds : time != nullptr ? present(time->values) : std::vector<double>{}) {
            price = std::min(*price, seconds);
        }
    }
    return price;
}

std::vector<Finding> failures(const model::RunReport& report)
{
    std::vector<Finding> found = broken(report);
    add_skipped(report.cases, found);
    const bool none = std::ranges::all_of(report.cases, [](const CaseReport& one) { return one.repetitions == 0; });
    if (!none || report.run.interrupted) {
        std::erase_if(found, [](const Finding& finding) { return finding.kind == FindingKind::case_skipped; });
    }
    return found;
}

std::vector<Finding> doubts_about_machine(const model::RunReport& report)
{
    std::vector<Finding> doubts;
    for (const Warning& warning : report.warnings) {
        if (warning.code == busy_machine_code) {
            doubts.push_back(
                {.kind = FindingKind::busy_machine, .importance = Importance::warning, .words = warning.message});
        }
    }
    std::ranges::move(implausible_findings(report.cases), std::back_inserter(doubts));
    return doubts;
}

std::vector<Finding> findings(const model::RunReport& report)
{
    std::vector<Finding> found = broken(report);
    add_assertions(report, model::Severity::warn, Importance::warning, found);
    std::ranges::move(doubts_about_machine(report), std::back_inserter(found));
    add_replays(report.cases, found);
    std::ranges::move(probe_findings(report.cases), std::back_inserter(found));
    add_placements(report.cases, found);
    add_contrasts(report.cases, found);
    for (const model::SiteComparison& sites : report.sites) {
        std::ranges::move(site_findings(sites), std::back_inserter(found));
    }
    add_trims(report.cases, found);
    std::ranges::move(ranking_findings(report), std::back_inserter(found));
    add_short_programs(report, found);
    add_skipped(report.cases, found);
    return found;
}

std::optional<Warning> profile_warning(const CaseReport& report)
{
    if (!report.release.modelled || report.release.verified) {
        return std::nullopt;
    }
    return Warning{
        "unverified-profile",
        fmt::format("{}: when collections come follows the rules of profile \"{}\"", report.id, report.release.profile),
        "no recording of that runtime has confirmed them; the memory, the releases and the times are real"};
}

std::vector<Warning> counting_warnings(const CaseReport& report)
{
    std::vector<Warning> warnings;
    const auto warn = [&](std::string_view fact, std::string code, std::string_view what, std::string hint) {
        if (const model::Scalar* const why = model::find_value(report.facts, fact)) {
            warnings.push_back(
                {std::move(code), fmt::format("{}: {}{}", report.id, what, model::to_text(*why)), std::move(hint)});
        }
    };
    warn(model::uncounted_fact, "uncounted", "",
         "its times, pages and working set are right; measure the program itself, without what starts it, or link it "
         "dynamically");
    warn(model::counted_under_fact, "counted-under-limit",
         "its allocations were counted while its addresses were limited (RLIMIT_AS) to ",
         "the counter takes part of them, some 70 MiB and half a byte for each byte of heap: if the limit "
         "refuses memory then, the program alone does otherwise; count it without the limit");
    warn(model::unverified_allocator_fact, "unverified-allocator",
         "whose malloc it used is not known: ", "start the program itself, without what starts it");
    return warnings;
}

std::vector<Warning> noise_warnings(const CaseReport& report)
{
    const Metric* metric = judged_metric(report);
    return metric != nullptr ? Noise{report, *metric}.warnings() : std::vector<Warning>{};
}

}  // namespace memsweep::measure
