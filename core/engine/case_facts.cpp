#include "core/engine/case_facts.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/engine/case_metrics.hpp"
#include "core/measure/assertions.hpp"
#include "core/model/case_index.hpp"
#include "core/model/metric_id.hpp"

namespace memsweep::engine {
namespace {

constexpr std::string_view output_fact = "output";  // the checksum of what a command has printed

constexpr std::string_view input_fact = "input";  // how much a command has read, and its digest

// The first repetition's word stands: later ones have the same library.
void keep_allocator(const Outcome& outcome, model::AllocatorInfo& info)
{
    if (!info.name.empty() && info.library.empty()) {
        info.library = outcome.allocator.library;
        info.format = outcome.allocator.format;
        info.statistics = outcome.allocator.statistics;
    }
}

void keep_fact(std::string_view name, const std::string& text, std::vector<model::Param>& facts)
{
    if (!text.empty() && std::ranges::find(facts, name, &model::Param::name) == facts.end()) {
        facts.push_back({std::string{name}, text});
    }
}

// What a program left behind, and what it printed: told by its checksum, which must be that of the first repetition.
// Why the repetition is none; empty otherwise.
std::string keep_command_facts(const CommandRecord& command, std::vector<model::Param>& facts)
{
    if (command.left_processes != 0) {
        keep_fact("left behind",
                  fmt::format("{} killed when the program had ended",
                              command.left_processes == 1 ? "1 process was"
                                                          : fmt::format("{} processes were", command.left_processes)),
                  facts);
    }
    keep_fact(output_fact, command.checksum, facts);
    const model::Scalar* const first = model::find_value(facts, output_fact);
    return first == nullptr || command.checksum.empty() || model::to_text(*first) == command.checksum
               ? ""
               : fmt::format("printed something else ({}) than in its first repetition ({})", command.checksum,
                             model::to_text(*first));
}

// Which way transfers took, and why; whose the memory was, and what could not be done with it.
void keep_routes(const Program& program, const RepetitionRecord& record, std::vector<model::Param>& facts)
{
    keep_fact("routes", read_text(record.transfers.routes), facts);
    keep_fact("device", read_text(record.device.name), facts);
    if (model::is_beyond_reach(program.memory.resource)) {
        keep_fact("contents", "never touched: the processor does not reach this memory", facts);
    }
}

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

std::string keep_facts(const Program& program, const Outcome& outcome, model::CaseReport& report)
{
    keep_allocator(outcome, report.allocator);
    keep_routes(program, outcome.record, report.facts);
    keep_fact(input_fact, program.command ? program.command->input_contents : "", report.facts);
    report.names = report.names ? report.names : outcome.command.names;
    keep_fact(model::uncounted_fact, outcome.command.why_uncounted, report.facts);
    keep_fact(model::unverified_allocator_fact, outcome.command.why_unasked, report.facts);
    return outcome.ending == Ending::finished ? keep_command_facts(outcome.command, report.facts) : "";
}

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
