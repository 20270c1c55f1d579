#include "core/measure/comparison.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/measure/time_contrast.hpp"

namespace memsweep::measure {
namespace {

using model::CaseReport;
using model::RunReport;

Side side_of(const RunReport& report)
{
    return {report.run.scenario_name, report.run.id, report.run.started, report.machine.host};
}

std::string value_text(const model::RatioOf& value)
{
    return fmt::format("{}={}", value.axis, value.value);
}

ComparedCase compared(const CasePair& pair)
{
    const CaseReport& shown = pair.candidate != nullptr ? *pair.candidate : *pair.base;
    return {shown.id, shown.scenario, pair.base != nullptr ? pair.base->id : "",
            pair.candidate != nullptr ? pair.candidate->id : ""};
}

// Of the side that took longer, whichever it is.
std::string cause_of_difference(const CasePair& pair)
{
    if (std::string cause = cause_of(*pair.base, *pair.candidate); !cause.empty()) {
        return "of the candidate's extra time: " + cause;
    }
    const std::string cause = cause_of(*pair.candidate, *pair.base);
    return cause.empty() ? cause : "of the base's extra time: " + cause;
}

void add_causes(const std::vector<CasePair>& pairs, std::vector<MetricComparison>& metrics)
{
    for (MetricComparison& metric : metrics) {
        const CasePair& pair = pairs[metric.pair];
        const bool time = metric.metric == "time_per_op" || metric.metric == "wall_time";
        if (time && pair.base != nullptr && pair.candidate != nullptr) {
            metric.cause = cause_of_difference(pair);
        }
    }
}

void fill(Comparison& comparison, const std::vector<CasePair>& pairs, const Criteria& criteria)
{
    comparison.metrics = compare_cases(pairs, criteria);
    add_causes(pairs, comparison.metrics);
    comparison.noisy_metrics = static_cast<std::size_t>(
        std::ranges::count_if(comparison.metrics, [](const MetricComparison& metric) { return metric.p.has_value(); }));
    comparison.findings = comparison_findings(comparison, pairs);
    comparison.pairs = pairs;
}

// "mode=finalizer, mode=refcount": every value of that axis, or every axis when no case has it.
std::string known_values(const RunReport& report, const std::string& axis)
{
    std::set<std::string> values;
    std::set<std::string> axes;
    for (const CaseReport& one : report.cases) {
        for (const model::Param& param : one.params) {
            axes.insert(param.name);
            if (param.name == axis) {
                values.insert(fmt::format("{}={}", axis, model::to_text(param.value)));
            }
        }
    }
    if (!values.empty()) {
        return fmt::format("there are: {}", fmt::join(values, ", "));
    }
    return axes.empty() ? std::string{"the cases have no axes"} : fmt::format("axes: {}", fmt::join(axes, ", "));
}

base::Expected<void> check_present(const RunReport& report, const model::RatioOf& wanted)
{
    const bool found = std::ranges::any_of(report.cases, [&](const CaseReport& one) { return has_value(one, wanted); });
    if (found) {
        return {};
    }
    return base::fail(base::ErrorCode::invalid_input,
                      fmt::format("no case has {}; {}", value_text(wanted), known_values(report, wanted.axis)),
                      "--between");
}

}  // namespace

base::Expected<Comparison> compare_reports(const RunReport& base, const RunReport& candidate, const Criteria& criteria)
{
    const std::vector<CasePair> pairs = pair_by_id(base.cases, candidate.cases);
    const bool met = std::ranges::any_of(
        pairs, [](const CasePair& pair) { return pair.base != nullptr && pair.candidate != nullptr; });
    if (!met) {
        return base::fail(base::ErrorCode::invalid_input,
                          fmt::format("no case is in both results: {} in the base, {} in the candidate",
                                      base.cases.size(), candidate.cases.size()));
    }
    Comparison comparison;
    comparison.base = side_of(base);
    comparison.candidate = side_of(candidate);
    std::ranges::transform(pairs, std::back_inserter(comparison.cases), compared);
    fill(comparison, pairs, criteria);
    return comparison;
}

base::Expected<Comparison> compare_families(const RunReport& report, const model::RatioOf& base,
                                            const model::RatioOf& candidate, const Criteria& criteria)
{
    for (const auto& wanted : {base, candidate}) {
        if (const auto present = check_present(report, wanted); !present) {
            return base::fail(present.error());
        }
    }
    const std::vector<CasePair> pairs = pair_by_value(report.cases, base, candidate);
    if (pairs.empty()) {
        return base::fail(base::ErrorCode::invalid_input,
                          fmt::format("no case with {} has a counterpart with {} that is equal otherwise",
                                      value_text(candidate), value_text(base)),
                          "--between");
    }
    Comparison comparison;
    comparison.is_between = true;
    comparison.base = side_of(report);
    comparison.base.name = value_text(base);
    comparison.candidate = side_of(report);
    comparison.candidate.name = value_text(candidate);
    const std::array<std::string_view, 2> axes{base.axis, candidate.axis};
    for (const CasePair& pair : pairs) {
        ComparedCase one = compared(pair);
        one.label = fmt::format("{}", fmt::join(params_without(*pair.candidate, axes), ", "));
        comparison.cases.push_back(std::move(one));
    }
    fill(comparison, pairs, criteria);
    return comparison;
}

std::size_t count(const Comparison& comparison, Verdict verdict)
{
    return static_cast<std::size_t>(std::ranges::count(comparison.metrics, verdict, &MetricComparison::verdict));
}

bool is_change(Verdict verdict)
{
    switch (verdict) {
    case Verdict::regressed:
    case Verdict::improved:
    case Verdict::added:
    case Verdict::missing:
    case Verdict::newly_failing:
    case Verdict::fixed:
        return true;
    case Verdict::same:
    case Verdict::inconclusive:
    case Verdict::insufficient:
    case Verdict::not_comparable:
    case Verdict::informational:
        break;
    }
    return false;
}

Outcome outcome(const Comparison& comparison)
{
    const auto any = [&](std::initializer_list<Verdict> verdicts) {
        return std::ranges::any_of(verdicts, [&](Verdict verdict) { return count(comparison, verdict) > 0; });
    };
    if (std::ranges::any_of(comparison.metrics, gates, &MetricComparison::verdict)) {
        return Outcome::regressed;
    }
    const bool judged = any({Verdict::same, Verdict::improved, Verdict::inconclusive, Verdict::fixed});
    return any({Verdict::insufficient}) || !judged ? Outcome::no_verdict : Outcome::passed;
}

}  // namespace memsweep::measure
