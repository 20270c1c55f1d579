#include "core/engine/runner.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "core/engine/case_metrics.hpp"

namespace memsweep::engine {
namespace {

// After this long without use a hypervisor may have taken free memory back (seen after about 30 s on cloud guests).
constexpr std::chrono::seconds memory_cools_after{10};

}  // namespace

Runner::Runner(const model::Plan& plan, schedule::Schedule& schedule, Executor& executor, Observer& observer,
               const sys::Clock& clock, const Capabilities& capabilities, RunOptions options, model::RunReport& report)
    : plan_{plan}, schedule_{schedule}, executor_{executor}, observer_{observer}, clock_{clock},
      capabilities_{capabilities}, options_{std::move(options)}, report_{report},
      entries_{prepare_entries(plan, capabilities_, options_, report)}
{
}

void Runner::run()
{
    observer_.run_started(report_, planned_runs(plan_, entries_));
    for (const Entry& entry : entries_.all) {
        if (entry.ended && entry.report->repetitions == 0) {
            observer_.case_ended(*entry.report, report_);  // refused
        }
    }
    while (goes_on() && do_next(schedule_.next(report_))) {
    }
    note_pace();
    for (std::string& why : executor_.take_down()) {
        report_.warnings.push_back({"cleanup-failed", std::move(why), "what it was to remove may still be there"});
    }
    observer_.run_ended(report_);
}

bool Runner::do_next(const schedule::Next& next)
{
    if (const auto* turn = std::get_if<schedule::Turn>(&next)) {
        if (turn->notes_pace) {
            note_pace();
        }
        if (turn->at_once) {
            take_at_once(*turn);
        } else {
            take_turn(*turn);
        }
        return true;
    }
    if (const auto* discard = std::get_if<schedule::Discard>(&next)) {
        discard_round(discard->repetition);
        return true;
    }
    end_rest();
    return false;
}

void Runner::note_pace()
{
    constexpr std::chrono::milliseconds apart{100};
    const auto now = clock_.now();
    if (!options_.note_pace || (last_pace_ && now - *last_pace_ < apart)) {
        return;
    }
    last_pace_ = now;
    if (!report_.calibration.rounds) {
        report_.calibration.rounds.emplace();
    }
    options_.note_pace(*report_.calibration.rounds);
}

void Runner::discard_round(std::uint32_t repetition)
{
    for (Entry& entry : entries_.all) {
        model::CaseReport& one = *entry.report;
        if (!entry.lost && one.repetitions == repetition + 1) {
            remove_last_repetition(one);
            const bool had_ended = std::exchange(entry.ended, false);
            observer_.repetition_discarded({.case_id = one.id, .repetition = repetition, .case_goes_on = had_ended});
        }
    }
}

void Runner::end_rest()
{
    for (Entry& entry : entries_.all) {
        if (!entry.ended) {
            entry.report->planned_repetitions = entry.report->repetitions;
            entry.ended = true;
            end_case(entry);
        }
    }
}

// What must run so that every case of the sweep that lacks this repetition meets what those before it leave behind.
// Which of them have it already differs after a resumed run.
schedule::Group Runner::due(const schedule::Turn& turn) const
{
    schedule::Group all;
    std::size_t needed = 0;
    for (const std::size_t index : turn.cases) {
        const Entry& entry = entries_[index];
        if (!entry.lost) {
            all.push_back(index);
            const bool lacks_it = !entry.ended && (turn.is_warmup || turn.repetition >= entry.report->repetitions);
            needed = lacks_it ? all.size() : needed;
        }
    }
    all.resize(needed);
    return all;
}

void Runner::take_turn(const schedule::Turn& turn)
{
    const schedule::Group members = due(turn);
    for (const std::size_t index : members) {
        RunLimits limits = limits_of(index, turn);
        limits.keeps_worker = index != members.back();
        run_case(entries_[index], turn, limits);
        if (goes_on() && entries_[index].lost) {
            cut_short(turn.cases, index);
            return;
        }
        if (!goes_on()) {
            return;
        }
    }
}

void Runner::run_case(Entry& entry, const schedule::Turn& turn, const RunLimits& limits)
{
    keep_memory_warm();
    const bool is_warmup = turn.is_warmup || turn.repetition < entry.report->repetitions;
    RepetitionStart start{.case_id = entry.plan_case->id, .repetition = turn.repetition, .warmup = is_warmup};
    const Attempt attempt = executor_.run(entry.compiled, limits, [&](int pid) {
        start.pid = pid;
        observer_.repetition_started(start);
    });
    last_use_ = clock_.now();
    settle(entry, start, attempt);
}

RunLimits Runner::limits_of(std::size_t index, const schedule::Turn& turn) const
{
    const Entry& entry = entries_[index];
    const bool is_warmup = turn.is_warmup || turn.repetition < entry.report->repetitions;
    return {.timeout = plan_.settings.timeout,
            .series = is_warmup ? model::SeriesSpec{} : entry.plan_case->series,
            .measure_fault_cost = !is_warmup,
            .drain_first = entry.plan_case->placement == model::Placement::drain,
            .counts = !is_warmup && is_counted(entries_, index, turn.is_compared)};
}

void Runner::settle(Entry& entry, const RepetitionStart& start, const Attempt& attempt)
{
    const bool had_ended = entry.ended;
    accept(attempt, start.repetition, start.warmup, capabilities_, entry);
    interrupted_ = interrupted_ || attempt.ending == Ending::interrupted;
    observer_.repetition_ended(start, attempt, report_);
    if (entry.ended && !had_ended) {
        end_case(entry);
    }
}

// Those that are still due; where others were lost, a case goes on without them.
void Runner::take_at_once(const schedule::Turn& turn)
{
    std::vector<std::size_t> members;
    std::vector<RepetitionStart> starts(turn.cases.size());
    std::vector<Repetition> repetitions;
    for (std::size_t i = 0; i < turn.cases.size(); ++i) {
        const std::size_t index = turn.cases[i];
        const Entry& entry = entries_[index];
        if (entry.ended || entry.lost) {
            continue;
        }
        RepetitionStart& start = starts[members.size()];
        start = {.case_id = entry.plan_case->id, .repetition = turn.repetition, .warmup = turn.is_warmup};
        repetitions.push_back({.compiled = entry.compiled,
                               .limits = limits_of(index, turn),
                               .place = (turn.first_place + i) % turn.cases.size(),
                               .started = [this, &start](int pid) {
                                   start.pid = pid;
                                   observer_.repetition_started(start);
                               }});
        members.push_back(index);
    }
    if (members.empty()) {
        return;
    }
    keep_memory_warm();
    const std::vector<Attempt> attempts = executor_.run_at_once(repetitions);
    last_use_ = clock_.now();
    for (std::size_t i = 0; i < members.size(); ++i) {
        settle(entries_[members[i]], starts[i], attempts[i]);
    }
}

// The worker went with the case that failed, and so did the state that those after it were to meet.
void Runner::cut_short(std::span<const std::size_t> sweep, std::size_t failed)
{
    const std::string& culprit = entries_[failed].plan_case->id;
    for (auto at = std::ranges::find(sweep, failed) + 1; at < sweep.end(); ++at) {
        Entry& entry = entries_[*at];
        model::CaseReport& case_report = *entry.report;
        if (std::exchange(entry.lost, true) || std::exchange(entry.ended, true)) {
            continue;
        }
        if (case_report.repetitions == 0) {
            case_report.reason = fmt::format("not measured: the worker of its sweep was lost in {}", culprit);
        } else {
            report_.warnings.push_back(
                {"sweep-cut-short",
                 fmt::format("{}: {} of {} repetitions: the worker of its sweep was lost in {}", case_report.id,
                             case_report.repetitions, plan_.settings.repetitions, culprit),
                 "leave that case out with --filter, or run it alone"});
        }
        end_case(entry);
    }
}

void Runner::end_case(Entry& entry)
{
    summarize_metrics(*entry.report);
    aborted_ = aborted_ || (options_.ends_run && options_.ends_run(*entry.report));
    observer_.case_ended(*entry.report, report_);
}

void Runner::keep_memory_warm()
{
    if (!options_.prefault || (last_use_ && clock_.now() - *last_use_ < memory_cools_after)) {
        return;
    }
    options_.prefault(entries_.max_touched_bytes);
    last_use_ = clock_.now();
}

}  // namespace memsweep::engine
