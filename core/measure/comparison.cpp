#include "core/measure/comparison.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/measure/cases.hpp"
#include "core/measure/machine_excuses.hpp"
#include "core/measure/names.hpp"
#include "core/measure/separate_runs.hpp"
#include "core/measure/statistics.hpp"
#include "core/measure/summary.hpp"
#include "core/measure/time_contrast.hpp"

namespace memsweep::measure {
namespace {

using model::CaseReport;
using model::Metric;
using model::RatioOf;
using model::RunReport;
using model::Status;

Side side_of(const RunReport& report)
{
    return {report.run.scenario_name, report.run.id, report.run.started, report.machine.host};
}

std::string value_text(const RatioOf& value)
{
    return fmt::format("{}={}", value.axis, value.value);
}

ComparedCase compared(const CasePair& pair)
{
    const CaseReport& shown = pair.candidate != nullptr ? *pair.candidate : *pair.base;
    return {shown.id, shown.scenario, pair.base != nullptr ? pair.base->id : "",
            pair.candidate != nullptr ? pair.candidate->id : ""};
}

void add_causes(Comparison& comparison)
{
    for (MetricComparison& metric : comparison.metrics) {
        const CasePair& pair = comparison.pairs[metric.pair];
        if (is_time(metric.metric) && pair.base != nullptr && pair.candidate != nullptr) {
            metric.extra = attribute(*pair.base, *pair.candidate);
            if (!metric.extra) {
                metric.extra = attribute(*pair.candidate, *pair.base);
                metric.is_base_slower = metric.extra.has_value();
            }
        }
    }
}

// What follows from the pairs, but for their findings.
void fill(Comparison& comparison, const Criteria& criteria)
{
    comparison.metrics = compare_cases(comparison.pairs, criteria, comparison.is_between ? Runs::one : Runs::separate);
    add_causes(comparison);
    comparison.noisy_metrics = static_cast<std::size_t>(
        std::ranges::count_if(comparison.metrics, [](const MetricComparison& metric) { return metric.p.has_value(); }));
}

// "mode=finalizer, mode=refcount": every value of that axis, or every axis when no case has it; empty without axes.
std::string known_values(const RunReport& report, const std::string& axis)
{
    std::set<std::string> values;
    std::set<std::string> axes;
    for (const CaseReport& one : report.cases) {
        for (const model::Param& param : one.params) {
            axes.insert(param.name);
            if (param.name == axis) {
                values.insert(param_text(param));
            }
        }
    }
    if (!values.empty()) {
        return fmt::format("there are: {}", fmt::join(values, ", "));
    }
    return axes.empty() ? std::string{} : fmt::format("axes: {}", fmt::join(axes, ", "));
}

base::Expected<void> check_present(const RunReport& report, const RatioOf& wanted)
{
    const bool found = std::ranges::any_of(report.cases, [&](const CaseReport& one) { return has_value(one, wanted); });
    if (found) {
        return {};
    }
    const std::string known = known_values(report, wanted.axis);
    return base::fail(
        base::ErrorCode::invalid_input,
        fmt::format("no case has {}; {}", value_text(wanted), known.empty() ? "the cases have no axes" : known),
        "--between");
}

bool failing(const CaseReport& report)
{
    return report.status != Status::ok && report.status != Status::skipped;
}

Judgement judge_states(const CaseReport& base, const CaseReport& candidate)
{
    const Reason states{CaseStates{base.status, candidate.status, base.reason, candidate.reason}};
    if (base.status == Status::ok && failing(candidate)) {
        return {Verdict::newly_failing, states};
    }
    if (failing(base) && candidate.status == Status::ok) {
        return {Verdict::fixed, states};
    }
    return {Verdict::not_comparable, states};
}

class Comparer {
  public:
    Comparer(const Criteria& criteria, Runs runs) : criteria_{&criteria}, runs_{runs} {}

    void add(const CasePair& pair, std::size_t index)
    {
        pair_ = index;
        compared_ = &pair;
        if (pair.base == nullptr || pair.candidate == nullptr) {
            settle(begin(pair.base == nullptr ? *pair.candidate : *pair.base), lacking(pair.base == nullptr));
        } else if (pair.base->status != Status::ok || pair.candidate->status != Status::ok) {
            settle(begin(*pair.candidate), judge_states(*pair.base, *pair.candidate));
        } else {
            add_metrics(*pair.base, *pair.candidate);
            if (criteria_->points) {
                add_points(*pair.base, *pair.candidate);
            }
        }
    }

    std::vector<MetricComparison> finish()
    {
        std::vector<double> p;
        for (const std::size_t index : noisy_) {
            p.push_back(*results_[index].p);
        }
        const std::vector<double> q = benjamini_hochberg(p);
        for (std::size_t i = 0; i < noisy_.size(); ++i) {
            judge(results_[noisy_[i]], q[i]);
        }
        return std::move(results_);
    }

  private:
    struct MetricPair {
        const Metric* base{};
        const Metric* candidate{};
    };

    MetricComparison& begin(const CaseReport& report)
    {
        MetricComparison& result = results_.emplace_back();
        result.pair = pair_;
        result.scenario = report.scenario;
        result.case_id = report.id;
        return result;
    }

    static Judgement lacking(bool in_base)
    {
        return {in_base ? Verdict::added : Verdict::missing, {OneSided{.is_in_candidate = in_base}}};
    }

    void add_metrics(const CaseReport& base, const CaseReport& candidate)
    {
        for (const Metric& metric : base.metrics) {
            add_metric(candidate, &metric, model::find_metric(candidate, metric.name));
        }
        for (const Metric& metric : candidate.metrics) {
            if (model::find_metric(base, metric.name) == nullptr) {
                add_metric(candidate, nullptr, &metric);
            }
        }
    }

    void add_points(const CaseReport& base, const CaseReport& candidate)
    {
        for (const std::string_view point : point_names(base)) {
            for (const model::MetricInfo& info : model::point_catalog()) {
                const Metric from = point_metric(base, point, info);
                const Metric to = point_metric(candidate, point, info);
                if (!present(from.values).empty() && !present(to.values).empty()) {
                    add_metric(candidate, &from, &to);
                }
            }
        }
    }

    static Metric point_metric(const CaseReport& report, std::string_view point, const model::MetricInfo& info)
    {
        Metric metric;
        metric.name = fmt::format("{}.{}", point, info.name);
        metric.unit = info.unit;
        metric.better = info.better;
        metric.metric_class = info.metric_class;
        metric.values = case_values(report, point, info.name);
        return metric;
    }

    void add_metric(const CaseReport& report, const Metric* base, const Metric* candidate)
    {
        if (!criteria_->only.empty() && !criteria_->only.contains(base != nullptr ? base->name : candidate->name)) {
            return;
        }
        const std::vector<double> from = base != nullptr ? present(base->values) : std::vector<double>{};
        const std::vector<double> to = candidate != nullptr ? present(candidate->values) : std::vector<double>{};
        if (from.empty() && to.empty()) {
            return;
        }
        MetricComparison& result =
            describe(report, candidate != nullptr ? *candidate : *base, class_of(base, candidate), from, to);
        if (from.empty() || to.empty()) {
            settle(result, one_sided(base, candidate));
        } else if (base->unit != candidate->unit || base->better != candidate->better) {
            settle(result, {Verdict::not_comparable, {Rule::units_differ}});
        } else if (const auto rule = why_informational(result)) {
            result.shift = hodges_lehmann(from, to);
            settle(result, {Verdict::informational, {*rule}});
        } else if (result.metric_class == model::MetricClass::exact) {
            result.shift = hodges_lehmann(std::array{*result.base_median}, std::array{*result.candidate_median});
            settle(result, judge_counter(result));
        } else if (runs_ == Runs::separate) {
            test_undisturbed(result, *base, *candidate);
        } else {
            test(result, from, to);
        }
    }

    void test_undisturbed(MetricComparison& result, const Metric& base, const Metric& candidate)
    {
        const UndisturbedValues values = undisturbed_values(*compared_, base, candidate);
        if (too_disturbed(values, min_repetitions)) {
            test(result, present(base.values), present(candidate.values));  // may be the same all the same
            return;
        }
        result.base_n = values.base.size();
        result.candidate_n = values.candidate.size();
        result.base_median = median(values.base);
        result.candidate_median = median(values.candidate);
        test(result, values.base, values.candidate);
        if (values.base_disturbed + values.candidate_disturbed > 0) {
            undisturbed_.emplace(noisy_.back(), MetricPair{&base, &candidate});
        }
    }

    // A count may be exact under one release mode and race a finalizer under another, and is then compared as what
    // varies.
    static model::MetricClass class_of(const Metric* base, const Metric* candidate)
    {
        const auto repeats = [](const Metric* metric) {
            return metric == nullptr || observed_class(*metric) == model::MetricClass::exact;
        };
        return repeats(base) && repeats(candidate) ? model::MetricClass::exact : model::MetricClass::noisy;
    }

    // Empty: the metric is judged.
    [[nodiscard]] std::optional<Rule> why_informational(const MetricComparison& result) const
    {
        const std::string& metric = result.metric;
        switch (model::role_of(metric)) {
        case model::Role::machine:
            return Rule::of_the_machine;
        case model::Role::time_part:
            return Rule::part_of_time;
        case model::Role::context:
            if (!is_named(*criteria_, metric)) {
                return Rule::explains_others;
            }
            break;
        case model::Role::headline:
        case model::Role::outcome:
        case model::Role::event:
            break;
        }
        if (criteria_->informational_units.contains(result.unit)) {
            return Rule::unit_is_shown;
        }
        return criteria_->informational.contains(metric) ? std::optional{Rule::is_shown} : std::nullopt;
    }

    MetricComparison& describe(const CaseReport& report, const Metric& metric, model::MetricClass metric_class,
                               const std::vector<double>& from, const std::vector<double>& to)
    {
        MetricComparison& result = begin(report);
        result.metric = metric.name;
        result.unit = metric.unit;
        result.better = metric.better;
        result.metric_class = metric_class;
        result.base_n = from.size();
        result.candidate_n = to.size();
        result.base_median = from.empty() ? std::nullopt : std::optional{median(from)};
        result.candidate_median = to.empty() ? std::nullopt : std::optional{median(to)};
        result.threshold = threshold_of(*criteria_, *compared_, result, default_threshold);
        return result;
    }

    [[nodiscard]] Judgement judge_counter(const MetricComparison& result) const
    {
        Judgement judgement = judge_exact(observed(result));
        const std::uint64_t apart = names_apart(*compared_);
        if (apart > 0 && judgement.verdict == Verdict::same && *result.base_median != *result.candidate_median &&
            !criteria_->thresholds.contains(result.metric)) {
            judgement.reason.names_apart = apart;
        }
        return judgement;
    }

    static Judgement one_sided(const Metric* base, const Metric* candidate)
    {
        if (base == nullptr || candidate == nullptr) {
            return lacking(base == nullptr);
        }
        const bool base_lacks = present(base->values).empty();
        const std::string& reason = (base_lacks ? base : candidate)->reason;
        return {Verdict::not_comparable, {NoValue{base_lacks, reason}}};
    }

    void test(MetricComparison& result, const std::vector<double>& from, const std::vector<double>& to)
    {
        result.shift = hodges_lehmann(from, to);
        result.p = rank_test(from, to).p;
        noisy_.push_back(static_cast<std::size_t>(&result - results_.data()));
    }

    void judge(MetricComparison& result, double q)
    {
        result.q = q;
        auto too_few = judge_sample_size(result.base_n, result.candidate_n, noisy_.size());
        const auto values = undisturbed_.find(static_cast<std::size_t>(&result - results_.data()));
        if (too_few && values != undisturbed_.end()) {
            take_all(result, values->second);
            too_few = judge_sample_size(result.base_n, result.candidate_n, noisy_.size());
        }
        settle(result, too_few ? *too_few : judge_noisy(observed(result), *result.shift, *result.q));
    }

    // Repetitions that other work disturbed too, where those left cannot show a change among so many metrics.
    void take_all(MetricComparison& result, const MetricPair& metrics)
    {
        const std::vector<double> from = present(metrics.base->values);
        const std::vector<double> to = present(metrics.candidate->values);
        result.base_n = from.size();
        result.candidate_n = to.size();
        result.base_median = median(from);
        result.candidate_median = median(to);
        result.shift = hodges_lehmann(from, to);
        result.p = rank_test(from, to).p;
        result.q = std::min(*result.p * static_cast<double>(noisy_.size()), 1.0);
    }

    static Observed observed(const MetricComparison& result)
    {
        return {result.unit, result.better, result.threshold, *result.base_median, *result.candidate_median};
    }

    static void settle(MetricComparison& result, Judgement judgement)
    {
        result.verdict = judgement.verdict;
        result.reason = std::move(judgement.reason);
    }

    const Criteria* criteria_;
    Runs runs_;
    std::size_t pair_{};
    const CasePair* compared_{};
    std::vector<MetricComparison> results_;
    std::vector<std::size_t> noisy_;                 // results that wait for the whole family before they are judged
    std::map<std::size_t, MetricPair> undisturbed_;  // by result, if not all repetitions count
};

}  // namespace

base::Expected<Comparison> compare_reports(const RunReport& base, const RunReport& candidate, const Criteria& criteria)
{
    Comparison comparison{
        .base = side_of(base), .candidate = side_of(candidate), .pairs = pair_by_id(base.cases, candidate.cases)};
    const bool met = std::ranges::any_of(
        comparison.pairs, [](const CasePair& pair) { return pair.base != nullptr && pair.candidate != nullptr; });
    if (!met) {
        return base::fail(base::ErrorCode::invalid_input,
                          fmt::format("no case is in both results: {} in the base, {} in the candidate",
                                      base.cases.size(), candidate.cases.size()));
    }
    std::ranges::transform(comparison.pairs, std::back_inserter(comparison.cases), compared);
    fill(comparison, criteria);
    excuse_machine(comparison, base, candidate);
    comparison.findings = comparison_findings(comparison);
    return comparison;
}

base::Expected<Comparison> compare_families(const RunReport& report, const RatioOf& base, const RatioOf& candidate,
                                            const Criteria& criteria)
{
    for (const auto& wanted : {base, candidate}) {
        MEMSWEEP_TRY(check_present(report, wanted));
    }
    Comparison comparison{.base = side_of(report),
                          .candidate = side_of(report),
                          .is_between = true,
                          .duet_processors = report.run.duet_processors,
                          .pairs = pair_by_value(report.cases, base, candidate)};
    if (comparison.pairs.empty()) {
        return base::fail(base::ErrorCode::invalid_input,
                          fmt::format("no case with {} has a counterpart with {} that is equal otherwise",
                                      value_text(candidate), value_text(base)),
                          "--between");
    }
    comparison.base.name = value_text(base);
    comparison.candidate.name = value_text(candidate);
    const std::array<std::string_view, 2> axes{base.axis, candidate.axis};
    for (const CasePair& pair : comparison.pairs) {
        ComparedCase one = compared(pair);
        one.label = fmt::format("{}", fmt::join(params_without(*pair.candidate, axes), ", "));
        comparison.cases.push_back(std::move(one));
    }
    fill(comparison, criteria);
    std::ranges::copy_if(report.sites, std::back_inserter(comparison.sites), [&](const model::SiteComparison& one) {
        return std::ranges::any_of(comparison.cases, [&](const ComparedCase& pair) {
            return pair.base_id == one.base_case && pair.candidate_id == one.candidate_case;
        });
    });
    comparison.findings = comparison_findings(comparison);
    return comparison;
}

std::size_t count(const Comparison& comparison, Verdict verdict)
{
    return static_cast<std::size_t>(std::ranges::count(comparison.metrics, verdict, &MetricComparison::verdict));
}

bool is_change(Verdict verdict)
{
    constexpr std::array changes{Verdict::regressed, Verdict::improved,      Verdict::added,
                                 Verdict::missing,   Verdict::newly_failing, Verdict::fixed};
    return std::ranges::find(changes, verdict) != changes.end();
}

Threshold threshold_of(const Criteria& criteria, const CasePair& pair, const MetricComparison& metric,
                       DefaultThreshold usual)
{
    const auto chosen = criteria.thresholds.find(metric.metric);
    if (chosen != criteria.thresholds.end()) {
        return chosen->second;
    }
    const Threshold threshold = usual(metric.metric, metric.unit, metric.metric_class);
    if (metric.metric_class != model::MetricClass::exact || !metric.base_median) {
        return threshold;
    }
    return criteria.strict_counters
               ? Threshold{}
               : threshold_under_names(threshold, metric.unit, *metric.base_median, names_apart(pair));
}

bool is_named(const Criteria& criteria, const std::string& metric)
{
    return criteria.only.contains(metric) || criteria.thresholds.contains(metric);
}

ComparisonOutcome outcome(const Comparison& comparison)
{
    const auto any = [&](std::initializer_list<Verdict> verdicts) {
        return std::ranges::any_of(verdicts, [&](Verdict verdict) { return count(comparison, verdict) > 0; });
    };
    if (std::ranges::any_of(comparison.metrics, gates, &MetricComparison::verdict)) {
        return ComparisonOutcome::regressed;
    }
    const bool judged = any({Verdict::same, Verdict::improved, Verdict::inconclusive, Verdict::fixed});
    return any({Verdict::insufficient}) || !judged ? ComparisonOutcome::no_verdict : ComparisonOutcome::passed;
}

std::vector<MetricComparison> compare_cases(std::span<const CasePair> pairs, const Criteria& criteria, Runs runs)
{
    Comparer comparer{criteria, runs};
    for (std::size_t index = 0; index < pairs.size(); ++index) {
        comparer.add(pairs[index], index);
    }
    return comparer.finish();
}

}  // namespace memsweep::measure
