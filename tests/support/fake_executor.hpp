// An executor with invented attempts, and an observer that writes down what it is told.
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/engine/observer.hpp"
#include "core/engine/repetition/executor.hpp"

namespace memsweep::tests {

// Each run takes the next scripted one; when there is none, a finished repetition of `wall_ns`.
class FakeExecutor final : public engine::Executor {
  public:
    [[nodiscard]] engine::Attempt run(const engine::CompiledCase& compiled, const engine::RunLimits& limits,
                                      const std::function<void(int pid)>& started) override
    {
        ++runs;
        last_limits = limits;
        kept.push_back(limits.keeps_worker);
        started(1000 + runs);
        engine::Attempt attempt{.ending = engine::Ending::finished, .pid = 1000 + runs};
        std::int64_t took_ns = wall_ns;
        if (!scripted.empty()) {
            attempt.ending = scripted.front().ending;
            attempt.reason = scripted.front().reason;
            took_ns = scripted.front().wall_ns.value_or(wall_ns);
            scripted.pop_front();
        }
        if (const auto* const steps = std::get_if<engine::StepProgram>(&compiled.work)) {
            last_estimate_bytes = steps->estimate_bytes;
            auto& measured = attempt.measured.emplace<engine::StepMeasurements>();
            measured.record.wall_ns = took_ns;
            measured.record.timed_arrays = steps->arrays;
            measured.phases.resize(steps->phase_names.size());
        } else {
            attempt.measured.emplace<engine::CommandRecord>().wall_ns = took_ns;
        }
        return attempt;
    }

    [[nodiscard]] std::vector<engine::Attempt> run_at_once(std::span<const engine::Repetition> repetitions) override
    {
        std::vector<engine::Attempt> attempts;
        for (const engine::Repetition& one : repetitions) {
            attempts.push_back(run(one.compiled, one.limits, one.started));
            places.push_back(one.place);
        }
        return attempts;
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
