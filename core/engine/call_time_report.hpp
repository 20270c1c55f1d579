// The times of single calls that a repetition counted, added to those of its case.
//
// Units    seconds. The counter that they are timed by runs at one rate, so its steps are the same in every repetition
//          to within its calibration; the first repetition's edges stand.
#pragma once

#include "core/engine/executor.hpp"
#include "core/model/report.hpp"

namespace memsweep::engine {

void append_call_times(const Outcome& outcome, model::CaseReport& report);

}  // namespace memsweep::engine
