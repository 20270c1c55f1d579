// Everyone who listens to a run, as the command line asks: the result file, the event streams, progress.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/cli/global_options.hpp"
#include "app/commands/event_log.hpp"
#include "app/commands/result_file.hpp"
#include "app/commands/run_session.hpp"
#include "core/engine/executor.hpp"
#include "core/sys/clock.hpp"

namespace memsweep::app {

// Passes every event on to several observers, in the order they were added.
class FanOut final : public engine::Observer {
  public:
    void add(engine::Observer& observer) { observers_.push_back(&observer); }

    void run_started(const model::RunReport& report, std::uint64_t planned_repetitions) override
    {
        for (engine::Observer* observer : observers_) {
            observer->run_started(report, planned_repetitions);
        }
    }

    void repetition_started(const engine::RepetitionStart& start) override
    {
        for (engine::Observer* observer : observers_) {
            observer->repetition_started(start);
        }
    }

    void repetition_ended(const engine::RepetitionStart& start, const engine::Outcome& outcome,
                          const model::RunReport& report) override
    {
        for (engine::Observer* observer : observers_) {
            observer->repetition_ended(start, outcome, report);
        }
    }

    void case_ended(const model::CaseReport& ended, const model::RunReport& report) override
    {
        for (engine::Observer* observer : observers_) {
            observer->case_ended(ended, report);
        }
    }

    void run_ended(const model::RunReport& report) override
    {
        for (engine::Observer* observer : observers_) {
            observer->run_ended(report);
        }
    }

  private:
    std::vector<engine::Observer*> observers_;
};

class RunObservers {
  public:
    // `append_events`: an earlier scenario of the same command has begun the event file.
    //
    // Errors   the event file cannot be written.
    [[nodiscard]] static base::Expected<std::unique_ptr<RunObservers>>
    make(const RunCommand& command, const GlobalOptions& global, const std::string& result_path, bool append_events,
         const sys::Clock& clock);

    [[nodiscard]] engine::Observer& all() { return fan_out_; }

    // The last write of the result, then the last event. Returns where the result is, as ResultFile::finish.
    [[nodiscard]] std::optional<std::string> finish(const model::RunReport& report);

  private:
    RunObservers(const std::string& result_path, const sys::Clock& clock) : result_{result_path, clock}
    {
        fan_out_.add(result_);
    }
    void add_log(std::unique_ptr<EventLog> log);

    ResultFile result_;
    std::vector<std::unique_ptr<EventLog>> logs_;
    std::unique_ptr<engine::Observer> progress_;
    FanOut fan_out_;
};

}  // namespace memsweep::app
