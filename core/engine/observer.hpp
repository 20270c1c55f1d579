// Who is told what happens during a run: progress on a terminal, an event stream, the result file.
//
// Threads  called from the driver's thread, never while a repetition is running except `case_started` and
//          `repetition_started`, which come before its first step.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/engine/executor.hpp"
#include "core/model/report.hpp"

namespace memsweep::engine {

struct RepetitionStart {
    std::string_view case_id;
    int pid{};
    std::uint32_t repetition{};  // from 0; of the warm-up rounds when `warmup`
    bool warmup{};
};

class Observer {
  public:
    virtual ~Observer() = default;

    virtual void run_started(const model::RunReport& /*report*/, std::uint64_t /*planned_repetitions*/) {}
    virtual void repetition_started(const RepetitionStart& /*start*/) {}
    virtual void repetition_ended(const RepetitionStart& /*start*/, const Outcome& /*outcome*/,
                                  const model::RunReport& /*report*/)
    {
    }
    virtual void case_ended(const model::CaseReport& /*ended*/, const model::RunReport& /*report*/) {}
    virtual void run_ended(const model::RunReport& /*report*/) {}
};

}  // namespace memsweep::engine
