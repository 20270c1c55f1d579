#include "core/measure/paired_comparison.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "core/measure/names.hpp"
#include "core/measure/paired.hpp"
#include "core/model/metric_id.hpp"

namespace memsweep::measure {
namespace {

using model::CaseReport;
using model::Metric;
using model::MetricClass;

bool is_asked_for(const std::string& metric, const Criteria& criteria)
{
    return is_named(criteria, metric) || (criteria.only.empty() && model::role_of(metric) == model::Role::headline);
}

Criteria narrowed(const model::RunReport& report, Criteria criteria)
{
    for (const CaseReport& one : report.cases) {
        for (const Metric& metric : one.metrics) {
            if (!is_asked_for(metric.name, criteria)) {
                criteria.informational.insert(metric.name);
            }
        }
    }
    return criteria;
}

const Metric* find_in(const CaseReport& one, const std::string& name)
{
    const auto found = std::ranges::find(one.metrics, name, &Metric::name);
    return found == one.metrics.end() ? nullptr : &*found;
}

// Those rounds that both sides have a value of.
std::vector<PairOfValues> rounds_of(const CasePair& pair, const std::string& name)
{
    std::vector<PairOfValues> rounds;
    const Metric* const base = find_in(*pair.base, name);
    const Metric* const candidate = find_in(*pair.candidate, name);
    const std::size_t count =
        base == nullptr || candidate == nullptr ? 0 : std::min(base->values.size(), candidate->values.size());
    for (std::size_t i = 0; i < count; ++i) {
        if (base->values[i] && candidate->values[i]) {
            rounds.push_back({*base->values[i], *candidate->values[i]});
        }
    }
    return rounds;
}

// Whether an exact counter repeats is for the rounds to show: what shares in which false alarms does not depend on
// them.
MetricClass declared_class(const CasePair& pair, const MetricComparison& metric)
{
    for (const CaseReport* const one : {pair.base, pair.candidate}) {
        const Metric* const found = one == nullptr ? nullptr : find_in(*one, metric.metric);
        if (found != nullptr) {
            return found->metric_class;
        }
    }
    return metric.metric_class;
}

bool was_tested(const MetricComparison& metric)
{
    constexpr std::array tested{Verdict::regressed, Verdict::improved, Verdict::same, Verdict::inconclusive,
                                Verdict::insufficient};
    return !metric.metric.empty() && std::ranges::find(tested, metric.verdict) != tested.end();
}

std::size_t count_of(const Comparison& comparison, MetricClass metric_class)
{
    return static_cast<std::size_t>(std::ranges::count_if(comparison.metrics, [&](const MetricComparison& metric) {
        return was_tested(metric) && metric.metric_class == metric_class;
    }));
}

void judge(MetricComparison& metric, const CasePair& pair, const Criteria& criteria, std::size_t of_its_class)
{
    const std::vector<PairOfValues> rounds = rounds_of(pair, metric.metric);
    metric.threshold = threshold_of(criteria, pair, metric, default_paired_threshold);
    metric.p = metric.q = std::nullopt;
    if (rounds.empty()) {
        metric.verdict = Verdict::insufficient;
        metric.reason = {Rule::no_round};
        return;
    }
    const PairedQuestion question{metric.unit,
                                  metric.better,
                                  metric.metric_class,
                                  metric.threshold,
                                  share_of_false_alarms(metric.metric_class, of_its_class),
                                  criteria.thresholds.contains(metric.metric)};
    PairedJudgement judgement = judge_pairs(rounds, question);
    metric.hidden = judgement.verdict == Verdict::inconclusive && hides_changes(rounds, question);
    metric.verdict = judgement.verdict;
    metric.reason = std::move(judgement.reason);
    if (const std::uint64_t apart = names_apart(pair);
        apart > 0 && metric.metric_class == MetricClass::exact && metric.verdict == Verdict::same &&
        !criteria.thresholds.contains(metric.metric) && *metric.base_median != *metric.candidate_median) {
        metric.reason.names_apart = apart;
    }
    metric.shift = judgement.shift;
    metric.threshold = judgement.threshold;
}

const MetricComparison* verdict_on(const Comparison& comparison, std::size_t pair, std::string_view name)
{
    const auto found = std::ranges::find_if(comparison.metrics, [&](const MetricComparison& metric) {
        return metric.pair == pair && metric.metric == name;
    });
    return found == comparison.metrics.end() ? nullptr : &*found;
}

// Neighbours make a program wait, and cost it little processor time, which has its answer long before its wall time can
// have one.
void stop_waiting_for_wall_time(Comparison& comparison, const Criteria& criteria)
{
    for (MetricComparison& metric : comparison.metrics) {
        const bool open = metric.verdict == Verdict::inconclusive || metric.verdict == Verdict::insufficient;
        if (metric.metric != model::metrics::wall_time || !open || metric.hidden || is_named(criteria, metric.metric)) {
            continue;
        }
        const MetricComparison* const processor = verdict_on(comparison, metric.pair, model::metrics::cpu_time);
        const auto rounds = rounds_of(comparison.pairs[metric.pair], metric.metric);
        const PairedQuestion question{metric.unit, metric.better, metric.metric_class, metric.threshold, {}};
        if (processor != nullptr && processor->verdict == Verdict::same && !rounds.empty() &&
            shows_none_yet(rounds, question)) {
            metric.verdict = Verdict::inconclusive;
            metric.hidden = true;
            metric.reason.waited_unevenly = true;
        }
    }
}

}  // namespace

base::Expected<Comparison> compare_rounds(const model::RunReport& report, const model::RatioOf& base,
                                          const model::RatioOf& candidate, const Criteria& criteria)
{
    Comparison comparison = MEMSWEEP_TRY(compare_families(report, base, candidate, narrowed(report, criteria)));
    for (MetricComparison& metric : comparison.metrics) {
        metric.metric_class = declared_class(comparison.pairs[metric.pair], metric);
    }
    const std::size_t noisy = count_of(comparison, MetricClass::noisy);
    const std::size_t exact = count_of(comparison, MetricClass::exact);
    for (MetricComparison& metric : comparison.metrics) {
        if (was_tested(metric)) {
            judge(metric, comparison.pairs[metric.pair], criteria,
                  metric.metric_class == MetricClass::exact ? exact : noisy);
        }
    }
    stop_waiting_for_wall_time(comparison, criteria);
    comparison.noisy_metrics = noisy;
    comparison.is_in_rounds = true;
    comparison.findings = comparison_findings(comparison);
    return comparison;
}

bool is_settled(const Comparison& comparison)
{
    const auto is_open = [](const MetricComparison& metric) {
        return metric.verdict == Verdict::insufficient || (metric.verdict == Verdict::inconclusive && !metric.hidden);
    };
    return outcome(comparison) == ComparisonOutcome::regressed || std::ranges::none_of(comparison.metrics, is_open);
}

}  // namespace memsweep::measure
