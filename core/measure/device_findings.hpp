// What a probe says of devices: their copies, what staging ordinary memory is worth, and what a kernel's load takes.
//
// Errors   none: what was not measured is not said.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/model/report.hpp"

namespace memsweep::measure {

// Device by device; empty without cases of probe_device. Without full stops.
[[nodiscard]] std::vector<std::string> device_sentences(std::span<const model::CaseReport* const> cases);

}  // namespace memsweep::measure
