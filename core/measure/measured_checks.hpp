// Judges a machine by short measurements: whether its memory is warm, and whether other work disturbs it.
//
// Units    seconds; shares as fractions.
// Sources  a chunk of memory is cold if its first touch takes more than three times as long as its second touch. A
//          canary is fixed work that is timed in rounds. The check says that results are spoiled if half of the rounds
//          are at least 5 % away from the median, or if one round in twenty takes at least a quarter longer than the
//          median. The check is only a note if half of the rounds are at least 2 % away, or if one round in twenty
//          takes at least a tenth longer. Steal time spoils results if it is 2 % or more of all processors' time.
// Errors   none: a check without measurements is a note without a value.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/model/machine.hpp"
#include "core/model/report.hpp"
#include "core/sys/machine_measures.hpp"

namespace memsweep::measure {

// If memory is cold, the check suggests a command that warms it by touching three quarters of `available_bytes`.
[[nodiscard]] model::MachineCheck cold_memory_check(std::span<const sys::TouchedChunk> chunks,
                                                    std::uint64_t available_bytes);

// The checks cpu-canary, memory-canary and steal.
[[nodiscard]] std::vector<model::MachineCheck> neighbour_checks(const sys::CanaryReadings& readings);

// Returns the measured values of neighbour_checks(), in the form in which a result stores them.
[[nodiscard]] model::Canary canary_of(std::span<const model::MachineCheck> checks);

// Returns a warning with the code busy-machine, or nullopt if no check says that results are spoiled. The warning names
// all checks that say so, with their measured values.
[[nodiscard]] std::optional<model::Warning> busy_machine_warning(std::span<const model::MachineCheck> checks);

}  // namespace memsweep::measure
