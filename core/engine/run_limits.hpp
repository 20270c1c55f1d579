// How one repetition is to be run, beside what it does.
#pragma once

#include <chrono>

#include "core/model/plan.hpp"

namespace memsweep::engine {

struct RunLimits {
    std::chrono::nanoseconds timeout{};
    model::SeriesSpec series;
    bool measure_fault_cost{};
    bool drain_first{};   // collect and drain what earlier repetitions left in this worker, before the baseline
    bool keeps_worker{};  // the next repetition goes into the same worker, if this one finishes
};

}  // namespace memsweep::engine
