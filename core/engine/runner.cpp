#include "core/engine/runner.hpp"

#include <algorithm>
#include <numeric>
#include <ranges>
#include <utility>

#include <fmt/format.h>

#include "core/base/rng.hpp"
#include "core/engine/case_facts.hpp"
#include "core/engine/case_metrics.hpp"
#include "core/measure/assertions.hpp"
#include "core/measure/summary.hpp"
#include "core/model/case_index.hpp"
#include "core/model/specs.hpp"
#include "core/sys/allocator_library.hpp"

namespace memsweep::engine {
namespace {

// After this long without use a hypervisor may have taken free memory back (seen after about 30 s on cloud guests).
constexpr std::chrono::seconds memory_cools_after{10};

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

bool wants_counts(const Program& program, const model::CaseReport& report)
{
    return program.command && program.command->count &&
           (report.repetitions < counted_repetitions || !repeats(report, "allocations") ||
            !repeats(report, "allocated_bytes") || !repeats(report, "live_bytes_peak") ||
            !repeats(report, "live_bytes_end"));
}

// Cases that differ in this axis alone.
std::vector<std::vector<std::size_t>> together(const std::vector<model::Case>& cases, std::string_view over)
{
    std::vector<std::vector<std::size_t>> groups;
    std::vector<std::vector<model::Param>> shared;
    for (std::size_t index = 0; index < cases.size(); ++index) {
        std::vector<model::Param> others = cases[index].params;
        std::erase_if(others, [over](const model::Param& param) { return param.name == over; });
        const auto place = static_cast<std::size_t>(std::ranges::find(shared, others) - shared.begin());
        if (place == groups.size()) {
            groups.emplace_back();
            shared.push_back(std::move(others));
        }
        groups[place].push_back(index);
    }
    return groups;
}

}  // namespace

Runner::Runner(const model::Plan& plan, Executor& executor, Observer& observer, const sys::Clock& clock,
               const Capabilities& capabilities, RunOptions options)
    : plan_{plan}, executor_{executor}, observer_{observer}, clock_{clock}, capabilities_{capabilities},
      options_{std::move(options)}
{
}

void Runner::run(model::RunReport& report)
{
    prepare(report);
    PlannedRuns planned;
    for (std::size_t index = 0; index < entries_.size(); ++index) {
        if (!entries_[index].ended) {
            ++planned.cases;
            planned.repetitions += plan_.settings.repetitions - report.cases[index].repetitions;
            planned.warmups += plan_.settings.warmup;
        }
    }
    observer_.run_started(report, planned);
    for (std::size_t index = 0; index < entries_.size(); ++index) {
        if (entries_[index].ended && report.cases[index].repetitions == 0) {
            observer_.case_ended(report.cases[index], report);  // refused
        }
    }
    take_turns(report);
    judge_cases(plan_.assertions, report);
    observer_.run_ended(report);
}

void Runner::prepare(model::RunReport& report)
{
    entries_.clear();
    sweeps_ = options_.run_together ? together(plan_.cases, options_.together_over) : model::sweeps(plan_.cases);
    const auto estimates = model::estimated_peaks_bytes(plan_.cases, options_.memory_budget_bytes);
    std::vector<model::CaseReport> earlier = std::exchange(report.cases, {});
    const model::CaseIndex earlier_index{earlier};
    std::vector<bool> is_ours(earlier.size());
    for (std::size_t index = 0; index < plan_.cases.size(); ++index) {
        const model::Case& plan_case = plan_.cases[index];
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
        prepare_case(report, plan_case, estimates[index]);
    }
    // Cases of the earlier run that this one leaves out (by a filter) stay as they are, behind ours.
    for (model::CaseReport& one : earlier) {
        if (!one.id.empty() && !is_ours[*earlier_index.position(one.id)]) {
            report.cases.push_back(std::move(one));
        }
    }
}

void Runner::prepare_case(model::RunReport& report, const model::Case& plan_case, std::uint64_t estimate)
{
    model::CaseReport& case_report = report.cases.back();
    case_report.id = plan_case.id;
    case_report.scenario = plan_case.scenario;
    case_report.fingerprint = plan_case.fingerprint;
    case_report.params = plan_case.params;
    const model::ReleaseSpec& release = plan_case.release;
    const bool modelled = release.modelled && !frees_at_once(release);
    case_report.release = {std::string{model::name_of(release.mode)}, plan_case.profile, modelled,
                           modelled && !release.unverified};
    case_report.trims = model::trims(plan_case);
    case_report.operation =
        model::timed_call_count(plan_case.steps) == 0 ? model::OperationKind::array : model::OperationKind::call;
    case_report.planned_repetitions = plan_.settings.repetitions;

    Entry entry{.plan_case = &plan_case};
    std::string reason = refusal(plan_case, estimate, plan_.requirements, capabilities_, options_);
    if (auto program = compile(plan_case, traces_)) {
        entry.program = std::move(*program);
        entry.program.required_devices = plan_.requirements.devices;
        if (model::is_on_device(plan_case.memory.resource)) {
            entry.program.estimate_bytes = estimate;
            entry.program.memory_budget_bytes = options_.memory_budget_bytes;
        }
    } else {
        reason = program.error().message;
    }
    if (reason.empty()) {
        reason = settle_allocator(entry.program.allocator, capabilities_);
    }
    if (reason.empty() && plan_case.command && !entry.program.allocator.name.empty()) {
        const auto preloadable = sys::can_be_preloaded(plan_case.command->run);
        reason = preloadable || plan_case.command->shell
                     ? ""
                     : fmt::format("cannot be run under another allocator: {}", base::describe(preloadable.error()));
    }
    case_report.allocator.name = entry.program.allocator.name;
    case_report.allocator.environment = entry.program.allocator.environment;
    if (!reason.empty()) {
        case_report.status = model::Status::skipped;
        case_report.reason = std::move(reason);
        entry.ended = entry.lost = true;
    } else {
        if (!model::is_beyond_reach(plan_case.memory.resource)) {  // whose pages nobody here touches
            max_estimate_bytes_ = std::max(max_estimate_bytes_, estimate);
        }
        entry.ended = case_report.repetitions >= plan_.settings.repetitions;
        if (case_report.repetitions == 0) {
            case_report.status = model::Status::skipped;
            case_report.reason = "not measured: the run has not reached it";
            declare_metrics(entry.program, case_report);
        }
    }
    entries_.push_back(std::move(entry));
}

void Runner::take_turns(model::RunReport& report)
{
    const model::Settings& settings = plan_.settings;
    const bool sequential = settings.order == model::Order::sequential;
    const std::uint64_t rounds = std::uint64_t{settings.warmup} + settings.repetitions;
    std::vector<std::size_t> order(sweeps_.size());
    std::size_t first_place = 0;
    bool goes_on = true;
    for (std::uint64_t turn = 0; turn < rounds * order.size() && goes_on; ++turn) {
        const auto round = static_cast<std::uint32_t>(sequential ? turn % rounds : turn / order.size());
        const std::size_t place = sequential ? turn / rounds : turn % order.size();
        const bool warmup = round < settings.warmup;
        const std::uint32_t number = warmup ? round : round - settings.warmup;
        if (place == 0) {  // a round begins
            std::iota(order.begin(), order.end(), std::size_t{0});
            if (settings.order == model::Order::shuffled) {
                base::Rng random{settings.seed + number + (warmup ? 1'000'000'007ULL : 0)};
                random.shuffle(order);
                first_place = random.below(2);
            }
        }
        if (!warmup && (sequential || place == 0)) {
            note_pace(report);
        }
        if (options_.before_turn) {
            options_.before_turn();
        }
        const Turn now{sweeps_[order[place]], number, warmup, first_place};
        goes_on = options_.run_together ? take_together(report, now) : take_turn(report, now);
        if (goes_on && !warmup && !sequential && place + 1 == order.size()) {
            const RoundEnd end = end_round(report, number);
            goes_on = end != RoundEnd::last;
            turn -= end == RoundEnd::repeated ? order.size() : 0;
        }
    }
    note_pace(report);
}

void Runner::note_pace(model::RunReport& report)
{
    constexpr std::chrono::milliseconds apart{100};
    const auto now = clock_.now();
    if (!options_.note_pace || (last_pace_ && now - *last_pace_ < apart)) {
        return;
    }
    last_pace_ = now;
    if (!report.calibration.rounds) {
        report.calibration.rounds.emplace();
    }
    options_.note_pace(*report.calibration.rounds);
}

RoundEnd Runner::end_round(model::RunReport& report, std::uint32_t number)
{
    const RoundEnd end = options_.round_ended ? options_.round_ended(report) : RoundEnd::goes_on;
    for (std::size_t index = 0; index < entries_.size() && end != RoundEnd::goes_on; ++index) {
        Entry& entry = entries_[index];
        model::CaseReport& one = report.cases[index];
        if (end == RoundEnd::repeated && !entry.lost && one.repetitions == number + 1) {
            remove_last_repetition(one);
            const bool had_ended = std::exchange(entry.ended, false);
            observer_.repetition_discarded({.case_id = one.id, .repetition = number, .case_goes_on = had_ended});
        } else if (end == RoundEnd::last && !entry.ended) {
            one.planned_repetitions = one.repetitions;
            entry.ended = true;
            end_case(report, index);
        }
    }
    return end;
}

// What must run so that every case of the sweep that lacks this repetition meets what those before it leave behind.
// Which of them have it already differs after a resumed run.
Runner::Sweep Runner::due(const model::RunReport& report, const Turn& turn) const
{
    Sweep all;
    std::size_t needed = 0;
    for (const std::size_t index : turn.sweep) {
        if (!entries_[index].lost) {
            all.push_back(index);
            const bool lacks_it =
                !entries_[index].ended && (turn.warmup || turn.number >= report.cases[index].repetitions);
            needed = lacks_it ? all.size() : needed;
        }
    }
    all.resize(needed);
    return all;
}

bool Runner::take_turn(model::RunReport& report, const Turn& turn)
{
    const Sweep members = due(report, turn);
    for (const std::size_t index : members) {
        const bool for_others_only = turn.number < report.cases[index].repetitions;
        if (!run_case(report, index, turn.number, turn.warmup || for_others_only, index != members.back())) {
            return false;
        }
        if (entries_[index].lost) {
            cut_short(report, turn.sweep, index);
            return !aborted_;
        }
    }
    return true;
}

bool Runner::run_case(model::RunReport& report, std::size_t index, std::uint32_t number, bool warmup, bool keeps_worker)
{
    keep_memory_warm();
    RepetitionStart start{.case_id = entries_[index].plan_case->id, .repetition = number, .warmup = warmup};
    RunLimits limits = limits_of(report, index, warmup);
    limits.keeps_worker = keeps_worker;
    const Outcome outcome = executor_.run(entries_[index].program, limits, [&](int pid) {
        start.pid = pid;
        observer_.repetition_started(start);
    });
    last_use_ = clock_.now();
    settle(report, index, start, outcome);
    return !interrupted_ && !aborted_;
}

RunLimits Runner::limits_of(const model::RunReport& report, std::size_t index, bool warmup) const
{
    const Entry& entry = entries_[index];
    return {.timeout = plan_.settings.timeout,
            .series = warmup ? model::SeriesSpec{} : entry.plan_case->series,
            .measure_fault_cost = !warmup,
            .drain_first = entry.plan_case->placement == model::Placement::drain,
            .counts = !warmup && is_counted(report, index)};
}

// In rounds all programs are counted while the counts of one vary: a round needs the values of all.
bool Runner::is_counted(const model::RunReport& report, std::size_t index) const
{
    const auto wants = [&](std::size_t one) { return wants_counts(entries_[one].program, report.cases[one]); };
    if (!options_.round_ended) {
        return wants(index);
    }
    const auto all = std::views::iota(std::size_t{0}, entries_.size());
    return std::ranges::any_of(all, wants);
}

void Runner::settle(model::RunReport& report, std::size_t index, const RepetitionStart& start, const Outcome& outcome)
{
    const bool had_ended = entries_[index].ended;
    accept(report, index, outcome, start.repetition, start.warmup);
    observer_.repetition_ended(start, outcome, report);
    if (entries_[index].ended && !had_ended) {
        end_case(report, index);
    }
}

// Those that are still due; where others were lost, a case goes on without them.
bool Runner::take_together(model::RunReport& report, const Turn& turn)
{
    std::vector<std::size_t> members;
    std::vector<RepetitionStart> starts(turn.sweep.size());
    std::vector<Repetition> repetitions;
    for (std::size_t i = 0; i < turn.sweep.size(); ++i) {
        const std::size_t index = turn.sweep[i];
        const Entry& entry = entries_[index];
        if (entry.ended || entry.lost) {
            continue;
        }
        RepetitionStart& start = starts[members.size()];
        start = {.case_id = entry.plan_case->id, .repetition = turn.number, .warmup = turn.warmup};
        repetitions.push_back({.program = entry.program,
                               .limits = limits_of(report, index, turn.warmup),
                               .place = (turn.first_place + i) % turn.sweep.size(),
                               .started = [this, &start](int pid) {
                                   start.pid = pid;
                                   observer_.repetition_started(start);
                               }});
        members.push_back(index);
    }
    if (members.empty()) {
        return true;
    }
    keep_memory_warm();
    const std::vector<Outcome> outcomes = options_.run_together(repetitions);
    last_use_ = clock_.now();
    for (std::size_t i = 0; i < members.size(); ++i) {
        settle(report, members[i], starts[i], outcomes[i]);
    }
    return !interrupted_ && !aborted_;
}

// The worker went with the case that failed, and so did the state that those after it were to meet.
void Runner::cut_short(model::RunReport& report, const Sweep& sweep, std::size_t failed)
{
    const std::string& culprit = entries_[failed].plan_case->id;
    for (auto at = std::ranges::find(sweep, failed) + 1; at < sweep.end(); ++at) {
        Entry& entry = entries_[*at];
        model::CaseReport& case_report = report.cases[*at];
        if (std::exchange(entry.lost, true) || std::exchange(entry.ended, true)) {
            continue;
        }
        if (case_report.repetitions == 0) {
            case_report.reason = fmt::format("not measured: the worker of its sweep was lost in {}", culprit);
        } else {
            report.warnings.push_back(
                {"sweep-cut-short",
                 fmt::format("{}: {} of {} repetitions: the worker of its sweep was lost in {}", case_report.id,
                             case_report.repetitions, plan_.settings.repetitions, culprit),
                 "leave that case out with --filter, or run it alone"});
        }
        end_case(report, *at);
    }
}

void Runner::accept(model::RunReport& report, std::size_t index, const Outcome& outcome, std::uint32_t number,
                    bool warmup)
{
    model::CaseReport& case_report = report.cases[index];
    Entry& entry = entries_[index];
    const std::string differs = warmup ? "" : keep_facts(entry.program, outcome, case_report);
    // The record of a refusal is complete: what led to it is worth keeping.
    if (!warmup && (outcome.ending == Ending::finished || outcome.ending == Ending::refused)) {
        append_repetition(entry.program, outcome, capabilities_.page_bytes, capabilities_.huge_page_bytes, case_report);
    }
    switch (outcome.ending) {
    case Ending::interrupted:
        interrupted_ = true;
        return;
    case Ending::finished:
        if (!warmup) {
            case_report.status = model::Status::ok;
            case_report.reason.clear();
            entry.ended = case_report.repetitions >= plan_.settings.repetitions;
        }
        if (!differs.empty()) {
            case_report.status = model::Status::failed;
            case_report.reason = fmt::format("repetition {}: {}", number + 1, differs);
            entry.ended = entry.lost = true;
        }
        return;
    case Ending::unmet:
        case_report.status = model::Status::skipped;
        case_report.reason = outcome.reason;
        entry.ended = entry.lost = true;
        return;
    case Ending::refused:
    case Ending::crashed:
    case Ending::timed_out:
    case Ending::broken:
        case_report.status = status_of(outcome.ending);
        case_report.reason =
            fmt::format("{} {}: {}", warmup ? "warm-up" : "repetition", warmup ? 1 : number + 1, outcome.reason);
        entry.ended = entry.lost = true;
        return;
    }
}

void Runner::end_case(model::RunReport& report, std::size_t index)
{
    model::CaseReport& ended = report.cases[index];
    summarize_metrics(ended);
    std::vector<model::Assertion> decisive;
    std::ranges::copy_if(plan_.assertions, std::back_inserter(decisive), [this](const model::Assertion& assertion) {
        const bool of_one_case = !assertion.expression.ratio;
        return of_one_case && (assertion.abort || (options_.fail_fast && assertion.severity == model::Severity::fail));
    });
    const auto results = measure::evaluate(decisive, {ended});
    const bool failed =
        std::ranges::count(results, model::AssertionOutcome::failed, &model::AssertionResult::outcome) > 0;
    aborted_ =
        failed || (options_.fail_fast && ended.status != model::Status::ok && ended.status != model::Status::skipped);
    observer_.case_ended(ended, report);
}

void Runner::keep_memory_warm()
{
    if (!options_.prefault || (last_use_ && clock_.now() - *last_use_ < memory_cools_after)) {
        return;
    }
    options_.prefault(max_estimate_bytes_);
    last_use_ = clock_.now();
}

}  // namespace memsweep::engine
