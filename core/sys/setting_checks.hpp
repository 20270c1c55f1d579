// Settings of this machine that spoil measured memory costs: their values, why they matter, and commands to change
// them.
//
// Sources  /proc and /sys below `root`, one or two files per check, named in setting_checks.cpp; the process's own
//          (limits, capabilities, control groups) from /proc/self.
// Cost     some 50 small files, a few milliseconds.
// Errors   none: a setting that cannot be read is a note without a value, never a verdict.
#pragma once

#include <string>
#include <vector>

#include "core/model/machine.hpp"

namespace memsweep::sys {

// `root` as in machine_facts(). The same checks in the same order on every machine.
[[nodiscard]] std::vector<model::MachineCheck> setting_checks(const std::string& root = "/");

}  // namespace memsweep::sys
