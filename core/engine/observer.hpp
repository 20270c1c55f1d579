// Observers of a run, and what they are told.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/engine/repetition/attempt.hpp"
#include "core/model/report.hpp"

namespace memsweep::engine {

struct RepetitionStart {
    std::string_view case_id;
    int pid{};
    std::uint32_t repetition{};  // from 0; of the warm-up rounds when `warmup`
    bool warmup{};
};

struct RepetitionDiscard {
    std::string_view case_id;
    std::uint32_t repetition{};
    bool case_goes_on{};  // the case had ended
};

// The work ahead of a run: without refused cases, and without repetitions that an earlier run has left.
struct PlannedRuns {
    std::uint64_t cases{};
    std::uint64_t repetitions{};  // over all cases, as are the warm-ups
    std::uint64_t warmups{};
};

// Follows a run: progress on a terminal, an event stream and the result file are observers. Until a case has ended, its
// metrics have no summaries.
//
// Threads  called from the driver's thread, never while a repetition is running except `case_started` and
//          `repetition_started`, which come before its first step.
class Observer {
  public:
    virtual ~Observer() = default;

    virtual void run_started(const model::RunReport& /*report*/, const PlannedRuns& /*planned*/) {}
    virtual void repetition_started(const RepetitionStart& /*start*/) {}
    virtual void repetition_ended(const RepetitionStart& /*start*/, const Attempt& /*attempt*/,
                                  const model::RunReport& /*report*/)
    {
    }
    // A repetition that has ended no longer counts, because its round is measured again: the same number starts anew.
    // If the repetition had ended its case, the case goes on.
    virtual void repetition_discarded(const RepetitionDiscard& /*discard*/) {}
    virtual void case_ended(const model::CaseReport& /*ended*/, const model::RunReport& /*report*/) {}
    virtual void run_ended(const model::RunReport& /*report*/) {}
};

}  // namespace memsweep::engine
