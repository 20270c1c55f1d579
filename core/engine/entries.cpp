#include "core/engine/entries.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/command_words.hpp"
#include "core/engine/case_facts.hpp"
#include "core/engine/case_metrics.hpp"
#include "core/measure/summary.hpp"
#include "core/model/case_index.hpp"
#include "core/model/metric_id.hpp"
#include "core/model/specs.hpp"
#include "core/sys/allocator_library.hpp"

namespace memsweep::engine {
namespace {

model::Status status_of(Ending ending)
{
    return ending == Ending::timed_out ? model::Status::timeout : model::Status::error;
}

// Where no rule of a profile decides anything: an axis over modes shares one block of keys.
bool frees_at_once(const model::ReleaseSpec& release)
{
    using model::ReleaseMode;
    const bool never_waits = release.mode == ReleaseMode::immediate || release.mode == ReleaseMode::refcount ||
                             release.mode == ReleaseMode::leak;
    return never_waits && !model::is_collected(release);
}

// So many rounds of a counter that repeats are as good as any number of them.
constexpr std::uint32_t counted_repetitions = 6;

bool repeats(const model::CaseReport& report, std::string_view name)
{
    const model::Metric* const metric = model::find_metric(report, name);
    return metric == nullptr || measure::observed_class(*metric) == model::MetricClass::exact;
}

bool wants_counts(const Entry& entry)
{
    const auto* const command = std::get_if<model::CommandSpec>(&entry.compiled.work);
    const model::CaseReport& report = *entry.report;
    return command != nullptr && command->count &&
           (report.repetitions < counted_repetitions || !repeats(report, model::metrics::allocations) ||
            !repeats(report, model::metrics::allocated_bytes) || !repeats(report, model::metrics::live_bytes_peak) ||
            !repeats(report, model::metrics::live_bytes_end));
}

void describe(const model::Plan& plan, const model::Case& plan_case, model::CaseReport& report)
{
    report.id = plan_case.id;
    report.scenario = plan_case.scenario;
    report.fingerprint = plan_case.fingerprint;
    report.params = plan_case.params;
    if (const model::CommandSpec* const command = plan_case.command()) {
        std::vector<std::string> words = command->run;
        if (!command->shell) {
            std::ranges::transform(words, words.begin(), base::shell_word);
        }
        report.command = command->typed.empty() ? fmt::format("{}", fmt::join(words, " ")) : command->typed;
    }
    const model::ReleaseSpec& release = plan_case.release;
    const bool modelled = release.modelled && !frees_at_once(release);
    report.release = {std::string{model::name_of(release.mode)}, plan_case.profile, modelled,
                      modelled && !release.unverified};
    report.trims = model::trims(plan_case);
    report.operation = model::timed_call_count(plan_case.steps()) == 0 ? model::CountedOperation::array
                                                                       : model::CountedOperation::call;
    report.planned_repetitions = plan.settings.repetitions;
}

// Why a program cannot be preloaded with the allocator that its case names; empty when it can, or none is named.
std::string preload_problem(const CompiledCase& compiled)
{
    const auto* const command = std::get_if<model::CommandSpec>(&compiled.work);
    if (command == nullptr || command->shell || compiled.allocator.name.empty()) {
        return {};
    }
    const auto preloadable = sys::can_be_preloaded(command->run);
    return preloadable ? std::string{}
                       : fmt::format("cannot be run under another allocator: {}", base::describe(preloadable.error()));
}

// Compiles the case. Why it cannot be measured; empty when it can.
std::string make_ready(const model::Plan& plan, const model::Case& plan_case, std::uint64_t estimate,
                       const Capabilities& capabilities, const RunOptions& options, PackedTraces& traces,
                       CompiledCase& ready)
{
    std::string reason = refusal(plan_case, estimate, plan.requirements, capabilities, options);
    auto compiled = compile(plan_case, traces);
    if (!compiled) {
        return compiled.error().message;
    }
    ready = *std::move(compiled);
    if (auto* const steps = std::get_if<StepProgram>(&ready.work)) {
        steps->required_devices = plan.requirements.devices;
        if (model::is_on_device(plan_case.memory.resource)) {
            steps->estimate_bytes = estimate;
            steps->memory_budget_bytes = options.memory_budget_bytes;
        }
    }
    if (reason.empty()) {
        reason = settle_allocator(ready.allocator, capabilities);
    }
    return reason.empty() ? preload_problem(ready) : reason;
}

}  // namespace

Entries prepare_entries(const model::Plan& plan, const Capabilities& capabilities, const RunOptions& options,
                        model::RunReport& report)
{
    Entries entries;
    const auto estimates = model::estimated_peaks_bytes(plan.cases, options.memory_budget_bytes);
    std::vector<model::CaseReport> earlier = std::exchange(report.cases, {});
    const model::CaseIndex earlier_index{earlier};
    std::vector<bool> is_ours(earlier.size());
    for (std::size_t index = 0; index < plan.cases.size(); ++index) {
        const model::Case& plan_case = plan.cases[index];
        model::CaseReport& case_report = report.cases.emplace_back();
        if (const auto position = earlier_index.position(plan_case.id)) {
            model::CaseReport& found = earlier[*position];
            is_ours[*position] = true;
            if (found.repetitions > 0 && (found.status == model::Status::ok || found.status == model::Status::failed)) {
                case_report = std::exchange(found, {});
                case_report.status = model::Status::ok;
                case_report.reason.clear();
            }
        }
        describe(plan, plan_case, case_report);
        Entry& entry = entries.all.emplace_back(Entry{.plan_case = &plan_case, .compiled = {}});
        const std::string reason =
            make_ready(plan, plan_case, estimates[index], capabilities, options, entries.traces, entry.compiled);
        case_report.allocator.name = entry.compiled.allocator.name;
        case_report.allocator.environment = entry.compiled.allocator.environment;
        entry.lost = !reason.empty();
        entry.ended = entry.lost || case_report.repetitions >= plan.settings.repetitions;
        if (entry.lost) {
            case_report.status = model::Status::skipped;
            case_report.reason = reason;
        } else if (case_report.repetitions == 0) {
            case_report.status = model::Status::skipped;
            case_report.reason = "not measured: the run has not reached it";
            declare_metrics(entry.compiled, case_report);
        }
        if (!entry.lost && !model::is_beyond_reach(plan_case.memory.resource)) {
            entries.max_touched_bytes = std::max(entries.max_touched_bytes, estimates[index]);
        }
    }
    // Cases of the earlier run that this one leaves out (by a filter) stay as they are, behind ours.
    for (model::CaseReport& one : earlier) {
        if (!one.id.empty() && !is_ours[*earlier_index.position(one.id)]) {
            report.cases.push_back(std::move(one));
        }
    }
    for (std::size_t index = 0; index < entries.all.size(); ++index) {
        entries[index].report = &report.cases[index];
    }
    return entries;
}

PlannedRuns planned_runs(const model::Plan& plan, const Entries& entries)
{
    PlannedRuns planned;
    for (const Entry& entry : entries.all) {
        if (!entry.ended) {
            ++planned.cases;
            planned.repetitions += plan.settings.repetitions - entry.report->repetitions;
            planned.warmups += plan.settings.warmup;
        }
    }
    return planned;
}

bool is_counted(const Entries& entries, std::size_t index, bool is_compared)
{
    return is_compared ? std::ranges::any_of(entries.all, wants_counts) : wants_counts(entries[index]);
}

void accept(const Attempt& attempt, std::uint32_t number, bool is_warmup, const Capabilities& capabilities,
            Entry& entry)
{
    model::CaseReport& report = *entry.report;
    const std::string differs = is_warmup ? "" : keep_facts(entry.compiled, attempt, report);
    // The record of a refusal is complete: what led to it is worth keeping.
    if (!is_warmup && (attempt.ending == Ending::finished || attempt.ending == Ending::refused)) {
        append_repetition(entry.compiled, attempt, {capabilities.page_bytes, capabilities.huge_page_bytes}, report);
    }
    switch (attempt.ending) {
    case Ending::interrupted:
        return;
    case Ending::finished:
        if (!is_warmup) {
            report.status = model::Status::ok;
            report.reason.clear();
            entry.ended = report.repetitions >= report.planned_repetitions;
        }
        if (!differs.empty()) {
            report.status = model::Status::failed;
            report.reason = fmt::format("repetition {}: {}", number + 1, differs);
            entry.ended = entry.lost = true;
        }
        return;
    case Ending::unmet:
        report.status = model::Status::skipped;
        report.reason = attempt.reason;
        entry.ended = entry.lost = true;
        return;
    case Ending::refused:
    case Ending::crashed:
    case Ending::timed_out:
    case Ending::broken:
        report.status = status_of(attempt.ending);
        report.reason =
            fmt::format("{} {}: {}", is_warmup ? "warm-up" : "repetition", is_warmup ? 1 : number + 1, attempt.reason);
        entry.ended = entry.lost = true;
        return;
    }
}

}  // namespace memsweep::engine
