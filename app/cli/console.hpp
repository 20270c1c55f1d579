// What goes with every command: the options that all have, and what is printed. Data goes to stdout, everything else
// to stderr.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/cli/command_line.hpp"
#include "core/sys/signals.hpp"
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

void add_global_options(Command& root, GlobalOptions& global);

// The columns of the terminal behind a descriptor, or 80 where it is none.
[[nodiscard]] int terminal_width(int descriptor);

// The style of stdout: its width is from 60 to 160 columns; --color, NO_COLOR, CLICOLOR_FORCE and the terminal decide
// on colour.
[[nodiscard]] reporters::TerminalStyle terminal_style(const GlobalOptions& global);

// "memsweep: error: where: message" on stderr.
void print_error(const base::Error& error);
// Each of them once, however many inputs share it.
void print_errors(const std::vector<base::Error>& errors);
// All that is wrong with files, each once, as "file:line:col: message".
void print_places(const std::vector<base::Error>& errors);
void print_note(std::string_view message);

// Prints the error, which is bad_input.
[[nodiscard]] ExitCode settled(const base::Expected<ExitCode>& outcome);
[[nodiscard]] ExitCode settled(const base::Expected<void>& outcome);

// The exit code after the stop signal that was taken last.
[[nodiscard]] ExitCode stop_code(const sys::StopSignals& signals);

// Writes all of the text to stdout. Returns false, and prints the error, when it could not: a full disk behind stdout
// must not look like success. Nothing is printed of a reader that has left, as `head` does: it has what it wanted.
[[nodiscard]] bool print_data(std::string_view text);
[[nodiscard]] ExitCode print_text(std::string_view text);

}  // namespace memsweep::app
