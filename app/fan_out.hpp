// Passes every event on to several observers, in the order they were added.
#pragma once

#include <vector>

#include "core/engine/observer.hpp"

namespace memsweep::app {

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

}  // namespace memsweep::app
