// The interface for observers of a run, and the data that they get.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/engine/repetition/attempt.hpp"
#include "core/model/report.hpp"

namespace memsweep::engine {

struct RepetitionStart {
    std::string_view case_id;
    int pid{};
    std::uint32_t repetition{};  // from 0; if `warmup`, the number of the warm-up
    bool warmup{};
};

struct RepetitionDiscard {
    std::string_view case_id;
    std::uint32_t repetition{};
    bool case_goes_on{};  // the case had ended, and now continues
};

// How much work a run has, without skipped cases and without repetitions that an earlier run has measured.
struct PlannedRuns {
    std::uint64_t cases{};
    std::uint64_t repetitions{};  // of all cases together
    std::uint64_t warmups{};
};

// Gets the events of a run. Progress on a terminal, the event stream and the result file are observers. Until a case
// has ended, its metrics have no summaries.
//
// Threads  called from the thread that runs the plan, never while a repetition is being measured. The exception is
//          `repetition_started`, which comes as soon as the repetition's process exists; a worker begins its first step
//          only afterwards.
class Observer {
  public:
    virtual ~Observer() = default;

    virtual void run_started(const model::RunReport& /*report*/, const PlannedRuns& /*planned*/) {}
    virtual void repetition_started(const RepetitionStart& /*start*/) {}
    virtual void repetition_ended(const RepetitionStart& /*start*/, const Attempt& /*attempt*/,
                                  const model::RunReport& /*report*/)
    {
    }
    // Called when a repetition that has ended does not count any more, because its round will be measured again; the
    // new repetition gets the same number. If the case had ended after the discarded repetition, the case continues.
    virtual void repetition_discarded(const RepetitionDiscard& /*discard*/) {}
    virtual void case_ended(const model::CaseReport& /*ended*/, const model::RunReport& /*report*/) {}
    virtual void run_ended(const model::RunReport& /*report*/) {}
};

}  // namespace memsweep::engine
