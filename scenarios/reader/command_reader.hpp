// The block "command" of a case: a foreign program in place of steps.
//
// Errors   into Diagnostics.
#pragma once

#include "core/model/command.hpp"
#include "scenarios/reader/fields.hpp"

namespace memsweep::scenarios {

[[nodiscard]] model::CommandSpec read_command(const SourceNode& node, const Reading& reading);

// Reports keys beside a command that apply to steps alone.
void refuse_beside_command(const Fields& top);

}  // namespace memsweep::scenarios
