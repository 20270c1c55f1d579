#include "core/measure/assertions.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/measure/cases.hpp"
#include "core/measure/summary.hpp"
#include "core/measure/time_contrast.hpp"

namespace memsweep::measure {
namespace {

using model::Assertion;
using model::AssertionResult;
using model::CaseReport;
using model::Expression;

bool judged(const Assertion& assertion, const CaseReport& report)
{
    return report.status == model::Status::ok && model::matches(report.params, assertion.where);
}

std::string why_no_values(const Expression& expression, const CaseReport& report)
{
    if (expression.point.empty()) {
        const model::Metric* metric = model::find_metric(report, expression.metric);
        return metric != nullptr && !metric->reason.empty()
                   ? fmt::format("no {}: {}", expression.metric, metric->reason)
                   : fmt::format("{} was not measured", expression.metric);
    }
    const std::vector<std::string_view> points = point_names(report);
    if (std::ranges::find(points, expression.point) == points.end()) {
        return fmt::format("no point named {} was sampled; there are: {}", expression.point, fmt::join(points, ", "));
    }
    return fmt::format("{} was not measured at {}", expression.metric, expression.point);
}

std::string why_no_statistic(const Expression& expression, std::size_t values)
{
    if (expression.stat == model::Stat::mdape) {
        return "mdape does not exist around a median of 0";
    }
    return fmt::format("the median's interval needs 6 values; there {} {}", values == 1 ? "is" : "are", values);
}

struct Evaluated {
    std::optional<double> value;
    std::string reason;  // why there is none
};

Evaluated value_in(const Expression& expression, const CaseReport& report)
{
    const auto values = case_values(report, expression.point, expression.metric);
    const auto value = stat_of(values, expression.stat, expression.percentile);
    if (value) {
        return {value, {}};
    }
    const std::size_t count = present(values).size();
    return {{}, count == 0 ? why_no_values(expression, report) : why_no_statistic(expression, count)};
}

Evaluated explained_in(const CaseReport& first, const CaseReport& second)
{
    const auto attribution = attribute(second, first);
    return attribution
               ? Evaluated{attribution->explained, {}}
               : Evaluated{{},
                           fmt::format("{} took no longer than {}, or lacks its times or faults", first.id, second.id)};
}

Evaluated ratio_of(const Expression& expression, const CaseReport& first, const CaseReport& second)
{
    if (expression.explained) {
        return explained_in(first, second);
    }
    const Evaluated over = value_in(expression, first);
    const Evaluated under = value_in(expression, second);
    if (!over.value) {
        return {{}, fmt::format("{}: {}", first.id, over.reason)};
    }
    if (!under.value) {
        return {{}, fmt::format("{}: {}", second.id, under.reason)};
    }
    if (expression.slope_length != 0) {
        return {(*under.value - *over.value) / expression.slope_length, {}};
    }
    if (*under.value == 0) {
        return {{}, fmt::format("{}: the divisor is 0", second.id)};
    }
    return {*over.value / *under.value, {}};
}

AssertionResult result_of(const Assertion& assertion, const Evaluated& value)
{
    const Expression& expression = assertion.expression;
    AssertionResult result;
    result.expression = assertion.text;
    result.actual = value.value;
    result.unit = expression.unit;
    const bool holds = value.value && model::holds(expression.comparison, *value.value, expression.limit);
    result.outcome = holds ? model::AssertionOutcome::passed : model::AssertionOutcome::failed;
    result.severity = assertion.severity;
    result.reason = value.reason;
    result.where = assertion.where;
    return result;
}

std::string params_text(const std::vector<model::Param>& params)
{
    std::vector<std::string> parts;
    std::ranges::transform(params, std::back_inserter(parts), param_text);
    return fmt::format("{}", fmt::join(parts, ", "));
}

// Why an assertion found no case to judge.
std::string why_not_evaluated(const Assertion& assertion, const std::vector<CaseReport>& cases)
{
    std::vector<const CaseReport*> unmeasured;
    for (const CaseReport& report : cases) {
        if (model::matches(report.params, assertion.where) && report.status != model::Status::ok) {
            unmeasured.push_back(&report);
        }
    }
    if (unmeasured.empty() && assertion.expression.ratio) {
        const auto& [first, second] = *assertion.expression.ratio;
        return fmt::format("no two cases of this run differ in {}={} and {}={} alone{}", first.axis, first.value,
                           second.axis, second.value,
                           assertion.where.empty() ? "" : " and have " + params_text(assertion.where));
    }
    if (unmeasured.empty()) {
        return assertion.where.empty() ? "this run has no case"
                                       : "no case of this run has " + params_text(assertion.where);
    }
    const CaseReport& one = *unmeasured.front();
    const std::string more = unmeasured.size() == 1 ? "" : fmt::format(", and {} more", unmeasured.size() - 1);
    return fmt::format("not measured: {} ({}){}", one.id, model::name_of(one.status), more);
}

AssertionResult not_evaluated(const Assertion& assertion, const std::vector<CaseReport>& cases)
{
    AssertionResult result = result_of(assertion, {{}, why_not_evaluated(assertion, cases)});
    result.outcome = model::AssertionOutcome::not_evaluated;
    return result;
}

void evaluate_cases(const Assertion& assertion, const std::vector<CaseReport>& cases,
                    std::vector<AssertionResult>& results)
{
    for (const CaseReport& report : cases) {
        if (auto result = evaluate_case(assertion, report)) {
            results.push_back(std::move(*result));
        }
    }
}

std::vector<CasePair> judged_pairs(const Assertion& assertion, const std::vector<CaseReport>& cases)
{
    const auto& [first, second] = *assertion.expression.ratio;
    std::vector<CasePair> pairs = pair_by_value(cases, second, first);
    std::erase_if(pairs, [&](const CasePair& pair) {
        return !judged(assertion, *pair.base) || !judged(assertion, *pair.candidate);
    });
    return pairs;
}

void evaluate_ratio(const Assertion& assertion, const std::vector<CaseReport>& cases,
                    std::vector<AssertionResult>& results)
{
    const auto& [first, second] = *assertion.expression.ratio;
    const std::vector<CasePair> pairs = judged_pairs(assertion, cases);
    for (const CasePair& pair : pairs) {
        results.push_back(result_of(assertion, ratio_of(assertion.expression, *pair.candidate, *pair.base)));
        if (pairs.size() > 1) {
            const std::array<std::string_view, 2> axes{first.axis, second.axis};
            const auto shared = params_without(*pair.candidate, axes);
            results.back().expression += fmt::format(" ({})", fmt::join(shared, ", "));
        }
    }
}

}  // namespace

std::optional<AssertionResult> evaluate_case(const Assertion& assertion, const CaseReport& report)
{
    if (assertion.expression.ratio || !judged(assertion, report)) {
        return std::nullopt;
    }
    AssertionResult result = result_of(assertion, value_in(assertion.expression, report));
    result.case_id = report.id;
    return result;
}

std::vector<AssertionResult> evaluate(const std::vector<Assertion>& assertions, const std::vector<CaseReport>& cases)
{
    std::vector<AssertionResult> results;
    for (const Assertion& assertion : assertions) {
        const std::size_t before = results.size();
        (assertion.expression.ratio ? evaluate_ratio : evaluate_cases)(assertion, cases, results);
        if (results.size() == before) {
            results.push_back(not_evaluated(assertion, cases));
        }
    }
    return results;
}

}  // namespace memsweep::measure
