// Measures this machine and the engine's own cost, before and during a run.
//
// Units    as in model::Calibration: seconds, bytes.
// Threads  one.
#pragma once

#include <functional>

#include "core/array/streaming.hpp"
#include "core/engine/repetition/executor.hpp"
#include "core/model/plan.hpp"
#include "core/model/report.hpp"
#include "core/sys/clock.hpp"

namespace memsweep::engine {

// Tries on this machine, for each array::Writing, from which size on np.concatenate should write with streaming stores.
// Cost: as array::try_streaming.
[[nodiscard]] array::StreamingSizes calibrate_streaming(const sys::Clock& clock, model::Calibration& calibration);

// Measures how long one reading of the clock takes. For a plan of steps, also measures the engine's cost of making and
// dropping an array, in a worker. For a plan of programs, also measures the cost of starting and ending a program, by
// some runs of a program that does nothing.
//
// Cost     about 40 ms for a plan of steps, or 80 ms if a case has accounting off; about 10 ms for a plan of programs.
// Errors   none: a value that cannot be measured stays empty.
void calibrate_harness(const model::Plan& plan, Executor& executor, const sys::Clock& clock,
                       model::Calibration& calibration);

// Makes a function for RunOptions::note_pace: that function times four kinds of fixed work (compute, copy, fault,
// release) and appends the times to the rounds. If there is no memory for this work, it appends nothing.
[[nodiscard]] std::function<void(model::MachineRounds&)> pace_noter(const sys::Clock& clock);

}  // namespace memsweep::engine
