// Programs that `memsweep run` measures in place of scenarios. A program is given as words after --, or as a whole
// command line in one argument, as for hyperfine. This header also declares the scripts that run around programs, and
// the parameters in command lines.
//
// Sources  hyperfine 1.18's --help: its options have the same names and meanings here, except for letters that
//          `memsweep run` uses for something else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/command_line.hpp"
#include "core/base/expected.hpp"
#include "core/model/plan.hpp"
#include "scenarios/reader/command_plans.hpp"

namespace memsweep::app {

struct RunCommand;

// The options that apply to programs and not to scenarios.
struct CommandLines {
    std::vector<std::string> names;  // --command-name, one for each command line
    // Each: one script for all programs, or one for each program.
    std::vector<std::string> prepare, conclude;
    std::string setup, cleanup;                // scripts; empty: nothing
    std::string shell_program;                 // "bash"; "none": no shell; empty: /bin/sh if a shell is needed
    bool no_shell{};                           // -N
    bool ignore_failure{};                     // any exit code is a success
    std::vector<std::uint32_t> ignored_codes;  // these exit codes count as success, too
    std::optional<std::uint32_t> min_runs, max_runs;
    std::vector<std::string> lists;  // -L: NAME, VALUES, NAME, VALUES ...
    std::vector<std::string> scans;  // -P: NAME, MIN, MAX, NAME, MIN, MAX ...
    std::vector<std::string> steps;  // one for each scan, in their order
};

void add_command_lines(Command& command, RunCommand& run);

// Says whether a text is a command line rather than the name of a scenario: it has a blank or shell syntax, and no file
// of that name exists.
[[nodiscard]] bool is_command_line(const std::string& text);

// Returns the values from `min` to at most `max`, `step` apart, as a list: "1,2,3". The values have as many
// decimals as `min` or `step`, whichever has more.
//
// Errors   invalid_input: an argument is no number, the range is empty, or the range has more than 10,000 values.
[[nodiscard]] base::Expected<std::string> scanned_values(const std::string& min, const std::string& max,
                                                         const std::string& step);

// If the arguments that were taken for scenarios are command lines, moves them to `run.texts`. Turns -L and -P into
// axes.
//
// Errors   invalid_input: options or arguments that cannot be combined, or a command line that needs a shell despite
//          -N.
[[nodiscard]] base::Expected<void> take_command_lines(RunCommand& run);

// Returns one plan with all programs: one case for each program and each combination of parameters. Several programs
// form the axis `command`.
[[nodiscard]] scenarios::Loaded plan_of_commands(const RunCommand& run, const scenarios::Overrides& overrides,
                                                 const scenarios::Surroundings& surroundings);

// Replaces each {NAME} and ${axis.NAME} in the words after -- with a value of -L or -P.
void put_in_parameters(const CommandLines& lines, model::Plan& plan);

// Adds the axis `command`, with the single value `given`, to a plan that has one program.
void name_the_command(const std::string& given, model::Plan& plan);

// Copies options into a plan of programs: prepare, conclude, setup, cleanup, and which exit codes count as success.
void surround(const CommandLines& lines, model::Plan& plan);

}  // namespace memsweep::app
