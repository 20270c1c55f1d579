// The block "command" of a case, which runs a program instead of steps.
//
// Errors   into Diagnostics.
#pragma once

#include "core/model/command.hpp"
#include "scenarios/reader/fields.hpp"

namespace memsweep::scenarios {

[[nodiscard]] model::CommandSpec read_command(const SourceNode& node, const Reading& reading);

// If a scenario has a command, reports its keys that only apply to steps.
void refuse_beside_command(const Fields& top);

}  // namespace memsweep::scenarios
