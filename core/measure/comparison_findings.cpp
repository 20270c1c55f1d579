#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/measure/comparison.hpp"
#include "core/measure/time_contrast.hpp"

namespace memsweep::measure {
namespace {

constexpr std::size_t max_cases = 12;

std::string case_name(const Comparison& comparison, const ComparedCase& one)
{
    if (!comparison.is_between) {
        return one.label;
    }
    return one.label.empty() ? comparison.candidate.name : fmt::format("{} ({})", comparison.candidate.name, one.label);
}

// How the times of two cases differ. If they were measured in rounds, the ratio is the rounds', as in the verdict;
// absent: there are too few of them.
std::optional<TimeContrast> time_of(const Comparison& comparison, const CasePair& pair,
                                    const std::vector<const MetricComparison*>& metrics)
{
    auto time = time_contrast(*pair.base, *pair.candidate);
    const auto judged = std::ranges::find_if(
        metrics, [&](const MetricComparison* metric) { return time && metric->metric == time->metric; });
    if (comparison.is_in_rounds && judged != metrics.end() && (*judged)->shift && (*judged)->shift->is_ratio) {
        time->ratio = *(*judged)->shift;
        return time->ratio.interval ? time : std::nullopt;  // without one it is not known to differ
    }
    return time;
}

Importance importance_of(const std::vector<const MetricComparison*>& metrics)
{
    const auto has = [&](auto predicate) {
        return std::ranges::any_of(metrics, predicate, [](const MetricComparison* metric) { return metric->verdict; });
    };
    if (has(gates)) {
        return Importance::failure;
    }
    return has([](Verdict verdict) { return verdict == Verdict::missing; }) ? Importance::warning : Importance::note;
}

MetricEffect effect_of(const MetricComparison& metric)
{
    return {metric.metric, metric.unit, metric.candidate_median, metric.base_median, metric.shift, metric.verdict};
}

// Between two values of an axis the time comes first, whether it changed or not.
Finding case_finding(const Comparison& comparison, const CasePair& pair, const ComparedCase& one,
                     const std::vector<const MetricComparison*>& metrics)
{
    Finding finding{.importance = importance_of(metrics),
                    .case_id = one.candidate_id.empty() ? one.base_id : one.candidate_id,
                    .base = comparison.base.name,
                    .subject = case_name(comparison, one)};
    ChangedCase changed{.is_between = comparison.is_between};
    finding.kind = finding.importance == Importance::failure ? FindingKind::case_regressed : FindingKind::case_changed;
    for (const MetricComparison* metric : metrics) {
        if (is_change(metric->verdict)) {
            finding.metrics.push_back(effect_of(*metric));
        }
    }
    if (metrics.size() == 1 && metrics.front()->metric.empty()) {
        finding.metrics = {effect_of(*metrics.front())};
        finding.reason = metrics.front()->reason;
    } else if (const auto time = time_of(comparison, pair, metrics)) {
        const bool slower = std::ranges::any_of(metrics, [](const MetricComparison* metric) {
            return metric->verdict == Verdict::regressed && is_time(metric->metric);
        });
        if ((slower || comparison.is_between) && is_slower(*time)) {
            changed.attribution = attribute(*pair.base, *pair.candidate);
        }
        if (comparison.is_between) {
            finding.kind = finding.metrics.empty() ? FindingKind::case_compared : finding.kind;
            changed.time = time;
            const auto judged = std::ranges::find(finding.metrics, time->metric, &MetricEffect::metric);
            if (judged == finding.metrics.end()) {
                finding.metrics.insert(
                    finding.metrics.begin(),
                    {.metric = std::string{time->metric}, .unit = model::Unit::seconds, .effect = time->ratio});
            }
        }
    }
    finding.about = changed;
    return finding;
}

void add_cases(const Comparison& comparison, std::vector<Finding>& findings)
{
    const std::vector<CasePair>& pairs = comparison.pairs;
    std::vector<std::vector<const MetricComparison*>> of_case(pairs.size());
    for (const MetricComparison& metric : comparison.metrics) {
        of_case[metric.pair].push_back(&metric);
    }
    std::vector<Finding> found;
    for (std::size_t index = 0; index < pairs.size(); ++index) {
        const bool changed = std::ranges::any_of(
            of_case[index], [](const MetricComparison* metric) { return is_change(metric->verdict); });
        if (changed || (comparison.is_between && pairs[index].base->status == model::Status::ok &&
                        pairs[index].candidate->status == model::Status::ok)) {
            Finding finding = case_finding(comparison, pairs[index], comparison.cases[index], of_case[index]);
            if (!finding.metrics.empty()) {  // else there are too few repetitions even for the ratio of the times
                found.push_back(std::move(finding));
            }
        }
    }
    std::ranges::stable_sort(found, {}, &Finding::importance);
    if (found.size() > max_cases) {
        const std::size_t more = found.size() - max_cases;
        found.resize(max_cases);
        found.push_back({.kind = FindingKind::more_cases, .importance = Importance::note, .count = more});
    }
    findings.insert(findings.end(), found.begin(), found.end());
}

void add_sites(const Comparison& comparison, std::vector<Finding>& findings)
{
    for (const model::SiteComparison& sites : comparison.sites) {
        std::vector<MetricEffect> verdicts;
        for (const MetricComparison& metric : comparison.metrics) {
            const ComparedCase& one = comparison.cases[metric.pair];
            if (one.base_id == sites.base_case && one.candidate_id == sites.candidate_case) {
                verdicts.push_back(effect_of(metric));
            }
        }
        std::ranges::move(site_findings(sites, verdicts), std::back_inserter(findings));
    }
}

void add_too_few(const Comparison& comparison, std::vector<Finding>& findings)
{
    if (const std::size_t metrics = count(comparison, Verdict::insufficient); metrics > 0) {
        findings.push_back(
            {.kind = comparison.is_in_rounds ? FindingKind::rounds_too_few : FindingKind::repetitions_too_few,
             .importance = Importance::warning,
             .count = metrics,
             .total = comparison.noisy_metrics});
    }
}

// Said once: for the first of them, with how many there are.
void add_busier(const Comparison& comparison, std::vector<Finding>& findings)
{
    const auto first = std::ranges::find_if(comparison.metrics, &MetricComparison::busier_machine);
    if (first != comparison.metrics.end()) {
        const auto all = std::ranges::count_if(comparison.metrics, &MetricComparison::busier_machine);
        findings.push_back({.kind = FindingKind::busier_machine,
                            .importance = Importance::warning,
                            .case_id = first->case_id,
                            .base = comparison.base.name,
                            .metrics = {effect_of(*first)},
                            .count = static_cast<std::size_t>(all),
                            .reason = first->reason});
    }
}

// A machine that became slower or faster itself: reported once, for the case that shows it most.
void add_machine(const Comparison& comparison, std::vector<Finding>& findings)
{
    const MetricComparison* most = nullptr;
    const auto distance = [](const MetricComparison& metric) {
        return std::max(metric.shift->estimate, 1 / metric.shift->estimate);
    };
    for (const MetricComparison& metric : comparison.metrics) {
        if (model::role_of(metric.metric) != model::Role::machine || !metric.shift || !metric.shift->is_ratio ||
            !metric.shift->interval || comparison.is_between) {
            continue;
        }
        const double change = (metric.shift->estimate - 1) * *metric.base_median;
        const bool excludes_none = (*metric.shift->interval)[0] > 1 || (*metric.shift->interval)[1] < 1;
        if (excludes_none && beyond(metric.threshold, *metric.base_median, change) &&
            (most == nullptr || distance(metric) > distance(*most))) {
            most = &metric;
        }
    }
    if (most != nullptr) {
        findings.push_back({.kind = FindingKind::machine_differs,
                            .importance = Importance::warning,
                            .case_id = most->case_id,
                            .base = comparison.base.name,
                            .metrics = {effect_of(*most)}});
    }
}

constexpr double max_settling_repetitions = 1000;

// Half the interval's width, and how far it has to shrink, both in the effect's own scale.
struct Room {
    double half_width{};
    double available{};
};

Room room_of(const MetricComparison& metric)
{
    const Shift& shift = *metric.shift;
    const double none = shift.is_ratio ? 1 : 0;
    const double base = std::fabs(*metric.base_median);
    const double allowed =
        std::max(shift.is_ratio ? metric.threshold.relative : metric.threshold.relative * base,
                 shift.is_ratio && base > 0 ? metric.threshold.absolute / base : metric.threshold.absolute);
    const double effect = std::fabs(shift.estimate - none);
    const double half = ((*shift.interval)[1] - (*shift.interval)[0]) / 2;
    return {half, effect > allowed ? effect : allowed - effect};
}

}  // namespace

std::vector<Finding> comparison_findings(const Comparison& comparison)
{
    std::vector<Finding> findings;
    add_cases(comparison, findings);
    add_sites(comparison, findings);
    add_too_few(comparison, findings);
    add_busier(comparison, findings);
    add_machine(comparison, findings);
    return findings;
}

std::size_t repetitions_to_settle(const MetricComparison& metric, std::size_t family)
{
    if (metric.verdict != Verdict::inconclusive || metric.busier_machine || !metric.shift || !metric.shift->interval) {
        return 0;
    }
    const Room room = room_of(metric);
    if (room.available <= 0) {
        return 0;
    }
    const auto n = static_cast<double>(std::min(metric.base_n, metric.candidate_n));
    const double factor = room.half_width / room.available;
    const double wanted = std::ceil(n * std::max(factor * factor, 1.0)) + 1;
    if (!(wanted <= max_settling_repetitions)) {
        return 0;
    }
    return std::max(static_cast<std::size_t>(wanted), repetitions_needed(family));
}

}  // namespace memsweep::measure
