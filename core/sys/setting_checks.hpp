// Checks settings of this machine that distort the measured cost of memory. A check says which value a setting has, why
// the setting matters, and which commands change it.
//
// Sources  one or two files per check in /proc and /sys below `root`, named in setting_checks.cpp. Limits, capabilities
//          and control groups of this process come from /proc/self.
// Cost     reads some 50 small files in a few milliseconds.
// Errors   none: a setting that cannot be read gives a check without a value and without a verdict.
#pragma once

#include <string>
#include <vector>

#include "core/model/machine.hpp"

namespace memsweep::sys {

// Returns the checks. `root` is the folder that contains proc/ and sys/. Every machine gets the same checks in the same
// order.
[[nodiscard]] std::vector<model::MachineCheck> setting_checks(const std::string& root = "/");

}  // namespace memsweep::sys
