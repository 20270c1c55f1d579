// What a run finds out about this machine and this engine before and while it measures.
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

// Finds by trials on this machine from which size on concatenations bypass the caches. It takes what
// array::try_streaming does.
[[nodiscard]] array::StreamingSizes calibrate_streaming(const sys::Clock& clock, model::Calibration& calibration);

// Measures what the clock takes. For a plan of steps, it also measures what an operation through the whole engine
// takes, in the worker that will run it. For a plan of programs, it measures what their start and their end take, by
// some runs of a program that does nothing.
//
// Cost     about 40 ms of a plan of steps, twice that where a case is not accounted; of one of programs about 10 ms.
// Errors   what cannot be measured is left empty.
void calibrate_harness(const model::Plan& plan, Executor& executor, const sys::Clock& clock,
                       model::Calibration& calibration);

// Times fixed work and adds it to the rounds, as RunOptions::note_pace asks; without memory for it nothing is added.
[[nodiscard]] std::function<void(model::MachineRounds&)> pace_noter(const sys::Clock& clock);

}  // namespace memsweep::engine
