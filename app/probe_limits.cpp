#include "app/probe_limits.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "core/measure/assertions.hpp"
#include "core/measure/format.hpp"

namespace memsweep::app {
namespace {

using model::AssertionOutcome;
using model::AssertionResult;
using model::CaseReport;

std::vector<CaseReport> cases_of(const scenarios::ProbeLimit& limit, const std::vector<CaseReport>& cases)
{
    std::vector<CaseReport> chosen;
    std::ranges::copy_if(cases, std::back_inserter(chosen), [&](const CaseReport& one) {
        return (limit.scenario.empty() || one.scenario == limit.scenario) &&
               model::find_metric(one, limit.assertion.expression.metric) != nullptr;
    });
    return chosen;
}

// "median 17.2 GB/s of 7 samples, 16.9 GB/s to 17.5 GB/s"
std::string evidence(const CaseReport& report, const model::Expression& expression)
{
    const model::Metric* const metric = model::find_metric(report, expression.metric);
    if (metric == nullptr || !metric->summary) {
        return "no samples";
    }
    const model::Summary& summary = *metric->summary;
    const auto text = [&](double value) { return measure::format_value(metric->unit, value); };
    return fmt::format("median {} of {} samples, {} to {}", text(summary.median), summary.n, text(summary.min),
                       text(summary.max));
}

AssertionResult unmet(const scenarios::ProbeLimit& limit)
{
    AssertionResult result;
    result.expression = limit.assertion.text;
    result.unit = limit.assertion.expression.unit;
    result.outcome = limit.optional ? AssertionOutcome::not_evaluated : AssertionOutcome::failed;
    result.severity = limit.assertion.severity;
    result.reason = "no case that it speaks of was measured";
    result.where = limit.assertion.where;
    return result;
}

void fail_case(const AssertionResult& result, const scenarios::ProbeLimit& limit, std::vector<CaseReport>& cases)
{
    const auto found = std::ranges::find(cases, result.case_id, &CaseReport::id);
    if (found == cases.end() || result.outcome != AssertionOutcome::failed ||
        result.severity != model::Severity::fail || found->status != model::Status::ok) {
        return;
    }
    found->status = model::Status::failed;
    found->reason =
        fmt::format("limit violated: {}: {}", result.expression, evidence(*found, limit.assertion.expression));
}

}  // namespace

void judge(const std::vector<scenarios::ProbeLimit>& limits, model::RunReport& report)
{
    // All of them by what was measured, before one of them changes a case's status.
    std::vector<std::pair<const scenarios::ProbeLimit*, AssertionResult>> judged;
    for (const scenarios::ProbeLimit& limit : limits) {
        std::vector<AssertionResult> results = measure::evaluate({limit.assertion}, cases_of(limit, report.cases));
        std::erase_if(results, [](const auto& one) { return one.outcome == AssertionOutcome::not_evaluated; });
        if (results.empty()) {
            results.push_back(unmet(limit));
        }
        for (AssertionResult& result : results) {
            judged.emplace_back(&limit, std::move(result));
        }
    }
    for (auto& [limit, result] : judged) {
        fail_case(result, *limit, report.cases);
        report.assertions.push_back(std::move(result));
    }
}

}  // namespace memsweep::app
