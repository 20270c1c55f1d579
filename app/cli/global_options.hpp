// The options that go with every command, and how they and the terminal decide what a text looks like.
#pragma once

#include <string>
#include <vector>

#include "app/cli/command_line.hpp"
#include "reporters/terminal/terminal_writer.hpp"

namespace memsweep::app {

enum class ColorMode { automatic, always, never };
enum class ProgressMode { automatic, bar, plain, json, none };

struct GlobalOptions {
    ColorMode color{ColorMode::automatic};
    ProgressMode progress{ProgressMode::automatic};
    bool quiet{};
    bool verbose{};
    std::vector<std::string> argv;
};

void add_global_options(Command& program, GlobalOptions& global);

// The columns of the terminal behind a descriptor, or 80 where it is none.
[[nodiscard]] int terminal_width(int descriptor);

// For stdout: its width from 60 to 160 columns; colour as --color, NO_COLOR, CLICOLOR_FORCE and the terminal decide.
[[nodiscard]] reporters::TerminalStyle terminal_style(const GlobalOptions& global);

}  // namespace memsweep::app
