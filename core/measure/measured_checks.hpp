// Judges a machine by short measurements: whether its memory is warm, and whether other work disturbs it.
//
// Units    seconds; shares as fractions.
// Sources  a chunk of memory is cold if its first touch costs more than three times its second. A canary is fixed work
//          that is timed in rounds. If its median absolute error is 5 % or more, or if one round in twenty takes at
//          least a quarter longer than the median, the check says that results are spoiled. With an error of 2 % or
//          more, or if one round in twenty takes at least a tenth longer, the check is a note. Steal time spoils
//          results if it is 2 % or more of all processors' time.
// Errors   none: without a reading, the check is a note without a value.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/model/machine.hpp"
#include "core/model/report.hpp"
#include "core/sys/machine_measures.hpp"

namespace memsweep::measure {

// The check suggests a command that warms memory. `available_bytes`: how much memory that command may touch.
[[nodiscard]] model::MachineCheck cold_memory_check(std::span<const sys::TouchedChunk> chunks,
                                                    std::uint64_t available_bytes);

// The checks cpu-canary, memory-canary and steal.
[[nodiscard]] std::vector<model::MachineCheck> neighbour_checks(const sys::CanaryReadings& readings);

// The figures of these checks, for a result.
[[nodiscard]] model::Canary canary_of(std::span<const model::MachineCheck> checks);

// Code: busy-machine. Names the check that spoils results, with its figures; nullopt: none does.
[[nodiscard]] std::optional<model::Warning> busy_machine_warning(std::span<const model::MachineCheck> checks);

}  // namespace memsweep::measure
