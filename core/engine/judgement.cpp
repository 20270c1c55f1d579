#include "core/engine/judgement.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/engine/case_metrics.hpp"
#include "core/engine/repetition/kept_facts.hpp"
#include "core/measure/assertions.hpp"
#include "core/model/case_index.hpp"
#include "core/model/metric_id.hpp"

namespace memsweep::engine {
namespace {

// Each kind and name once, as its first repetition met it.
std::string defects_text(const model::CaseReport& report)
{
    std::string text;
    std::vector<std::pair<model::DefectKind, std::string>> seen;
    for (const model::Defect& defect : report.defects) {
        const std::pair<model::DefectKind, std::string> key{defect.kind, defect.target};
        if (std::ranges::find(seen, key) == seen.end()) {
            seen.push_back(key);
            text += (text.empty() ? "" : "; ") + model::describe(defect);
        }
    }
    return text;
}

// A program that answers something else is no faster one: all cases must print what the first of them has printed.
void compare_outputs(std::vector<model::CaseReport>& cases)
{
    const model::CaseReport* first = nullptr;
    for (model::CaseReport& one : cases) {
        const model::Scalar* const output = model::find_value(one.facts, output_fact);
        if (output == nullptr || one.repetitions == 0) {
            continue;
        }
        first = first == nullptr ? &one : first;
        if (const model::Scalar& expected = *model::find_value(first->facts, output_fact);
            *output != expected && one.status == model::Status::ok) {
            one.status = model::Status::failed;
            one.reason = fmt::format("printed something else ({}) than {} ({})", model::to_text(*output), first->id,
                                     model::to_text(expected));
        }
    }
}

}  // namespace

void judge_cases(const std::vector<model::Assertion>& assertions, model::RunReport& report)
{
    report.assertions = measure::evaluate(assertions, report.cases);
    for (model::CaseReport& one : report.cases) {
        summarize_metrics(one);  // a case that an interruption left has no summaries yet
        if (one.status == model::Status::ok && !one.defects.empty()) {
            one.status = model::Status::failed;
            one.reason = defects_text(one);
        }
        const model::Metric* const wrong = model::find_metric(one, model::metrics::transfer_wrong_bytes);
        if (one.status == model::Status::ok && wrong != nullptr && wrong->summary && wrong->summary->max > 0) {
            one.status = model::Status::failed;
            one.reason = fmt::format("wrong data: {} B of what was transferred are other than what was sent",
                                     base::format_count(wrong->summary->max));
        }
    }
    compare_outputs(report.cases);
    const model::CaseIndex index{report.cases};
    for (const model::AssertionResult& result : report.assertions) {
        if (result.outcome != model::AssertionOutcome::failed || result.severity != model::Severity::fail) {
            continue;
        }
        const auto position = index.position(result.case_id);
        if (position && report.cases[*position].status == model::Status::ok) {
            report.cases[*position].status = model::Status::failed;
            report.cases[*position].reason = fmt::format("assertion failed: {}", result.expression);
        }
    }
}

bool ends_run(const std::vector<model::Assertion>& assertions, bool fail_fast, const model::CaseReport& ended)
{
    std::vector<model::Assertion> decisive;
    std::ranges::copy_if(assertions, std::back_inserter(decisive), [fail_fast](const model::Assertion& assertion) {
        const bool of_one_case = !assertion.expression.ratio;
        return of_one_case && (assertion.abort || (fail_fast && assertion.severity == model::Severity::fail));
    });
    const auto results = measure::evaluate(decisive, {ended});
    return std::ranges::count(results, model::AssertionOutcome::failed, &model::AssertionResult::outcome) > 0 ||
           (fail_fast && ended.status != model::Status::ok && ended.status != model::Status::skipped);
}

}  // namespace memsweep::engine
