// The outcome of one repetition, and its measurements.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/engine/repetition/command_record.hpp"
#include "core/engine/repetition/step_measurements.hpp"
#include "core/model/report.hpp"

namespace memsweep::engine {

enum class Ending {
    finished,
    refused,  // the memory resource refused an allocation, or a transfer failed permanently
    unmet,    // the machine lacks something that a step needs
    crashed,  // the worker or the program crashed
    timed_out,
    interrupted,  // the user asked to stop
    broken,       // the harness itself failed
};

// `measured` has a value if `ending` is finished or refused. This value is complete only if `ending` is finished.
struct Attempt {
    Ending ending{Ending::broken};
    std::string reason{};
    int pid{};
    std::vector<model::Series> series{};
    model::AllocatorInfo allocator{};  // facts found by the worker, if the case names an allocator
    std::variant<std::monostate, StepMeasurements, CommandRecord> measured{};

    // The measurements. The caller must know which kind they are.
    [[nodiscard]] StepMeasurements& steps() { return std::get<StepMeasurements>(measured); }
    [[nodiscard]] const StepMeasurements& steps() const { return std::get<StepMeasurements>(measured); }
    [[nodiscard]] CommandRecord& command() { return std::get<CommandRecord>(measured); }
    [[nodiscard]] const CommandRecord& command() const { return std::get<CommandRecord>(measured); }

    // Taken from either kind of measurements; 0 if nothing was measured.
    [[nodiscard]] std::int64_t wall_ns() const;
    [[nodiscard]] std::uint64_t peak_working_set_bytes() const;
};

}  // namespace memsweep::engine
