// What all commands share: the global options, and printing. Data goes to stdout, everything else to stderr.
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

// Returns the width, in columns, of the terminal that a file descriptor refers to; 80 if the descriptor is no terminal.
[[nodiscard]] int terminal_width(int descriptor);

// Returns the style for texts on stdout. Its width is 60 to 160 columns. --color, NO_COLOR, CLICOLOR_FORCE and the
// terminal decide whether the style has colours.
[[nodiscard]] reporters::TerminalStyle terminal_style(const GlobalOptions& global);

// Prints "memsweep: error: where: message" on stderr.
void print_error(const base::Error& error);
// Prints each error a single time, even if several inputs have the same error.
void print_errors(const std::vector<base::Error>& errors);
// Prints all mistakes in files, each a single time, as "file:line:col: message".
void print_places(const std::vector<base::Error>& errors);
void print_note(std::string_view message);

// Returns the exit code that `outcome` holds, or `done` for an outcome without a value. If `outcome` is an error,
// prints the error and returns bad_input.
[[nodiscard]] ExitCode settled(const base::Expected<ExitCode>& outcome);
[[nodiscard]] ExitCode settled(const base::Expected<void>& outcome);

// Returns the exit code for the stop signal that arrived last.
[[nodiscard]] ExitCode stop_code(const sys::StopSignals& signals);

// Writes the whole text to stdout. On failure returns false and prints the error, because a full disk must not look
// like success. If the reader has closed the pipe, as `head` does, returns false without an error message.
[[nodiscard]] bool print_data(std::string_view text);
[[nodiscard]] ExitCode print_text(std::string_view text);

}  // namespace memsweep::app
