// How one repetition went, and what it measured.
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
    refused,  // the memory resource refused an allocation, or a transfer failed for good
    unmet,    // the machine lacks what a step needs
    crashed,  // the worker died
    timed_out,
    interrupted,  // the user asked to stop
    broken,       // the harness itself failed
};

// `measured` is complete only if `ending` is finished; it exists if `ending` is finished or refused.
struct Attempt {
    Ending ending{Ending::broken};
    std::string reason{};
    int pid{};
    std::vector<model::Series> series{};
    model::AllocatorInfo allocator{};  // as the worker found it, if the case names one
    std::variant<std::monostate, StepMeasurements, CommandRecord> measured{};

    // The measurements, for a caller that knows their kind.
    [[nodiscard]] StepMeasurements& steps() { return std::get<StepMeasurements>(measured); }
    [[nodiscard]] const StepMeasurements& steps() const { return std::get<StepMeasurements>(measured); }
    [[nodiscard]] CommandRecord& command() { return std::get<CommandRecord>(measured); }
    [[nodiscard]] const CommandRecord& command() const { return std::get<CommandRecord>(measured); }

    // Every subject has this; 0 if nothing was measured.
    [[nodiscard]] std::int64_t wall_ns() const;
    [[nodiscard]] std::uint64_t peak_working_set_bytes() const;
};

}  // namespace memsweep::engine
