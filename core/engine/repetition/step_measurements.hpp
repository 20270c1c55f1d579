// Everything that was measured in one repetition of steps.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/engine/repetition/step_record.hpp"
#include "core/trace/replay/call_times.hpp"

namespace memsweep::engine {

struct StepMeasurements {
    StepRecord record;
    std::vector<PointRecord> points{};
    std::vector<PhaseRecord> phases{};
    std::vector<SlotRecord> slots{};
    std::vector<std::int64_t> call_times_ns{};
    std::shared_ptr<const trace::CallTimeCounts> call_counts{};  // nullptr: no replay timed its calls
};

}  // namespace memsweep::engine
