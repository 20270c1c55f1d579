// Measurements of this machine and of this engine, before and during a run.
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

// Finds by trials on this machine the size from which concatenations bypass the caches. Its cost is that of
// array::try_streaming.
[[nodiscard]] array::StreamingSizes calibrate_streaming(const sys::Clock& clock, model::Calibration& calibration);

// Measures the time of a clock reading. For a plan of steps, it also measures an operation through the whole engine, in
// the worker that will run it. For a plan of programs, it measures their start and their end, by some runs of a program
// that does nothing.
//
// Cost     about 40 ms for a plan of steps, twice that if a case is not accounted; about 10 ms for one of programs.
// Errors   a value that cannot be measured is left empty.
void calibrate_harness(const model::Plan& plan, Executor& executor, const sys::Clock& clock,
                       model::Calibration& calibration);

// Times fixed work and adds it to the rounds, as RunOptions::note_pace asks; without memory for it nothing is added.
[[nodiscard]] std::function<void(model::MachineRounds&)> pace_noter(const sys::Clock& clock);

}  // namespace memsweep::engine
