// What short measurements say about a machine: whether its memory is warm, and whether it is left alone.
//
// Units    seconds; shares as fractions.
// Sources  a chunk is cold when its first touch costs more than three times its second. A canary spoils from 5 % of
//          median absolute error, or when one round in twenty takes a quarter longer than the median; it is a note from
//          2 % and a tenth. Steal time spoils from 2 % of all processors' time.
// Errors   none: readings that are missing make a note without a value.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/model/machine_check.hpp"
#include "core/sys/canary.hpp"
#include "core/sys/first_touch.hpp"

namespace memsweep::measure {

// `available_bytes`: what the command that warms memory may touch.
[[nodiscard]] model::MachineCheck cold_memory_check(std::span<const sys::TouchedChunk> chunks,
                                                    std::uint64_t available_bytes);

// cpu-canary, memory-canary, steal.
[[nodiscard]] std::vector<model::MachineCheck> neighbour_checks(const sys::CanaryReadings& readings);

}  // namespace memsweep::measure
