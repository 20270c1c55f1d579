// What a run finds out about this machine and this engine before and while it measures.
//
// Units    as in model::Calibration: seconds, bytes.
// Threads  one.
#pragma once

#include <functional>

#include "core/array/streaming.hpp"
#include "core/engine/executor.hpp"
#include "core/model/plan.hpp"
#include "core/model/report.hpp"
#include "core/sys/clock.hpp"

namespace memsweep::app {

// From which size on concatenations bypass the caches: tried on this machine where the plan has some, which is then
// kept, and else presumed of it.
[[nodiscard]] array::StreamingSizes calibrate_streaming(const model::Plan& plan, const sys::Clock& clock,
                                                        model::Calibration& calibration);

// What the clock takes, and an operation through the whole engine, in the worker that will run the plan.
void calibrate_harness(const model::Plan& plan, engine::Executor& executor, const sys::Clock& clock,
                       model::Calibration& calibration);

// Times fixed work and adds it to the rounds, as RunOptions::note_pace asks; without memory for it nothing is added.
[[nodiscard]] std::function<void(model::MachineRounds&)> pace_noter(const sys::Clock& clock);

}  // namespace memsweep::app
