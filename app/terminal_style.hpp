// How text on this terminal looks: its own width; colour as --color, NO_COLOR, CLICOLOR_FORCE and the terminal decide.
#pragma once

#include "app/options.hpp"
#include "reporters/terminal_writer.hpp"

namespace memsweep::app {

[[nodiscard]] reporters::TerminalStyle terminal_style(const GlobalOptions& global);

}  // namespace memsweep::app
