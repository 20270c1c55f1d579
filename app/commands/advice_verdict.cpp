#include "app/commands/advice_verdict.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/measure/advice.hpp"
#include "core/measure/format.hpp"

namespace memsweep::app {
namespace {

using reporters::AdviceReport;
using reporters::AdviceTry;
using reporters::AdviceVerdict;
using reporters::MallocOrigin;

// Where the budget has let no setting run, a prediction is all there is.
void take_predicted_best(const JudgedAdvice& facts, AdviceReport& report)
{
    const auto is_run = [](const AdviceTry& one) { return one.runs > 0; };
    if (facts.way == schedule::AdviceWay::race || std::ranges::any_of(report.tried, is_run)) {
        return;
    }
    const double before = reporters::median_of(report.default_memory).value_or(facts.memory);
    for (std::size_t i = 0; i < report.tried.size(); ++i) {
        const AdviceTry& one = report.tried[i];
        const bool gains = one.predicted && before - *one.predicted >= measure::LeastGain{}.of(before);
        if (gains && (!report.best || *one.predicted < *report.tried[*report.best].predicted)) {
            report.best = i;
        }
    }
    if (report.best) {
        report.tried[*report.best].dropped.clear();
    }
}

// Every setting that was not run.
bool all_predicted(const AdviceReport& report)
{
    return std::ranges::none_of(report.tried, [](const AdviceTry& one) {
        return one.runs == 0 && !one.predicted && one.dropped == "not_reached" && one.why == advice_not_reached_in_time;
    });
}

bool is_unsafe(const AdviceTry& one)
{
    return one.dropped == "unsafe" || one.dropped == "failed";
}

void judge_nothing(const JudgedAdvice& facts, AdviceReport& report)
{
    const auto unsafe = std::ranges::find_if(report.tried, is_unsafe);
    const auto tried = static_cast<std::uint64_t>(
        std::ranges::count_if(report.tried, [](const AdviceTry& one) { return one.runs > 0; }));
    std::string best = "none gains anything";
    double least = facts.memory;
    for (const AdviceTry& one : report.tried) {
        if (one.memory && *one.memory < least) {
            least = *one.memory;
            const auto before = reporters::median_of(report.default_memory).value_or(facts.memory);
            best = fmt::format("the smallest, {}, is at x{:.2f}{}", one.settings.text, *one.memory / before,
                               one.dropped == "slower" ? " and takes longer than allowed" : "");
        }
    }
    const std::string linked = report.program.origin == MallocOrigin::linked
                                   ? fmt::format("It is linked with {}; of ", report.program.allocator)
                                   : "Of ";
    const bool is_predicted = all_predicted(report);
    change_nothing(fmt::format("{}{} tried {}{}.", linked, measure::counted(tried, "setting"), best,
                               facts.outcome.raced_all ? ""
                               : is_predicted ? "; the others were predicted to need more, by replays of a recording"
                               : report.is_interrupted ? "; it was interrupted before the others"
                                                       : "; the budget left others untried"),
                   report);
    if (!facts.outcome.raced_all && !is_predicted) {
        report.verdict = AdviceVerdict::predicted_only;
    }
    if (unsafe != report.tried.end() &&
        std::ranges::all_of(report.tried, [&](const AdviceTry& one) { return one.runs == 0 || is_unsafe(one); })) {
        report.verdict = AdviceVerdict::unsafe;
        report.reason = fmt::format("Under {} the program {}.", unsafe->settings.text, unsafe->why);
    }
}

void add_warnings(const JudgedAdvice& facts, AdviceReport& report)
{
    if (facts.prints_otherwise) {
        report.warnings.emplace_back(
            "What the program prints differs from run to run, so that nobody checked that it prints the same.");
    }
    if (!report.best) {
        return;
    }
    const reporters::AdviceSettings& best = report.tried[*report.best].settings;
    if (report.program.origin == MallocOrigin::linked && !best.keeps_allocator) {
        report.warnings.push_back(
            fmt::format("The program is linked with {}: what it asks of it (redis: INFO memory, MEMORY PURGE, active "
                        "defragmentation) tells nothing, or does nothing, under another malloc.",
                        report.program.allocator));
    }
    report.warnings.emplace_back("The environment holds for every program that this one starts, too.");
}

}  // namespace

void change_nothing(std::string why, AdviceReport& report)
{
    report.verdict = AdviceVerdict::change_nothing;
    report.reason = std::move(why);
}

void budget_ended(std::string why, reporters::AdviceReport& report)
{
    report.verdict = AdviceVerdict::predicted_only;
    report.reason = std::move(why);
}

void judge_advice(const JudgedAdvice& facts, AdviceReport& report)
{
    const schedule::AdviceOutcome& outcome = facts.outcome;
    const bool has_failed_as_it_is =
        !outcome.options.empty() && outcome.options.front().drop == schedule::AdviceDrop::failed;
    if (!report.best && !has_failed_as_it_is) {
        take_predicted_best(facts, report);
    }
    add_warnings(facts, report);
    const bool was_run =
        std::ranges::any_of(report.tried, [](const AdviceTry& one) { return one.runs > 0 || one.dropped == "unsafe"; });
    if (!report.best && !was_run && !has_failed_as_it_is && !outcome.raced_all && !all_predicted(report)) {
        budget_ended(report.is_interrupted
                         ? "It was interrupted before a setting was run to its end."
                         : "The budget ended before a setting was run to its end; a larger --budget decides.",
                     report);
        return;
    }
    if (has_failed_as_it_is && !report.best) {
        budget_ended("A run of it as it is failed, or the budget ended it: nothing more can be compared with it.",
                     report);
        return;
    }
    if (!report.best) {
        judge_nothing(facts, report);
        return;
    }
    const bool is_proven = outcome.gain.claim == measure::Claim::proven;
    if (is_proven && !measure::is_affordable(outcome.price, facts.question.at_most)) {
        report.verdict = AdviceVerdict::predicted_only;
        report.reason = fmt::format("Its price is not known yet: {} x{:.2f} in {} pairs, where x{:.2f} is allowed; a "
                                    "larger --budget decides.",
                                    facts.question.keep == "wall_time" ? "wall time" : "CPU time", outcome.price.ratio,
                                    outcome.price.pairs, facts.question.at_most);
        return;
    }
    report.verdict = is_proven ? AdviceVerdict::change : AdviceVerdict::predicted_only;
    report.reason = is_proven ? ""
                              : fmt::format("{} before pairs of runs could prove it; {}.",
                                            report.is_interrupted ? "It was interrupted" : "The budget ended",
                                            "a larger --budget decides");
}

}  // namespace memsweep::app
