// An executor with invented outcomes, and an observer that writes down what it is told.
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/engine/executor.hpp"
#include "core/engine/program.hpp"

namespace memsweep::tests {

// Each run takes the next scripted outcome; when there is none, a finished repetition of `wall_ns`.
class FakeExecutor final : public engine::Executor {
  public:
    [[nodiscard]] engine::Outcome run(const engine::Program& program, const engine::RunLimits& limits,
                                      const std::function<void(int pid)>& started) override
    {
        ++runs;
        last_limits = limits;
        last_estimate_bytes = program.estimate_bytes;
        kept.push_back(limits.keeps_worker);
        started(1000 + runs);
        engine::Outcome outcome;
        outcome.ending = engine::Ending::finished;
        outcome.pid = 1000 + runs;
        outcome.record.wall_ns = wall_ns;
        outcome.record.timed_arrays = program.arrays;
        outcome.phases.resize(program.phase_names.size());
        if (!scripted.empty()) {
            outcome.ending = scripted.front().ending;
            outcome.reason = scripted.front().reason;
            outcome.record.wall_ns = scripted.front().wall_ns.value_or(wall_ns);
            scripted.pop_front();
        }
        return outcome;
    }

    [[nodiscard]] std::vector<engine::Outcome> run_at_once(std::span<const engine::Repetition> repetitions) override
    {
        std::vector<engine::Outcome> outcomes;
        for (const engine::Repetition& one : repetitions) {
            outcomes.push_back(run(one.program, one.limits, one.started));
            places.push_back(one.place);
        }
        return outcomes;
    }

    struct Scripted {
        engine::Ending ending{engine::Ending::finished};
        std::string reason;
        std::optional<std::int64_t> wall_ns{};  // none: as those without a script
    };
    std::deque<Scripted> scripted;
    std::int64_t wall_ns{1'000'000};
    int runs{};
    engine::RunLimits last_limits;
    std::uint64_t last_estimate_bytes{};
    std::vector<bool> kept;           // of each run: whether its worker was to be kept
    std::vector<std::size_t> places;  // of each run of those at once
};

class RecordingObserver final : public engine::Observer {
  public:
    void run_started(const model::RunReport& /*report*/, const engine::PlannedRuns& runs) override { planned = runs; }

    void repetition_started(const engine::RepetitionStart& start) override
    {
        turns.push_back(std::string{start.case_id} + (start.warmup ? " w" : " r") + std::to_string(start.repetition));
    }

    void repetition_discarded(const engine::RepetitionDiscard& discard) override
    {
        turns.push_back(std::string{discard.case_id} + " x" + std::to_string(discard.repetition) +
                        (discard.case_goes_on ? " goes on" : ""));
    }

    void case_ended(const model::CaseReport& ended, const model::RunReport& /*report*/) override
    {
        ended_cases.push_back(ended.id);
    }

    engine::PlannedRuns planned;
    std::vector<std::string> turns;
    std::vector<std::string> ended_cases;
};

}  // namespace memsweep::tests
