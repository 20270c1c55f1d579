// Programs as `memsweep run` takes them beside scenarios: words behind --, or whole command lines as one text each, as
// hyperfine takes them; what surrounds them, and the parameters that are put into them.
//
// Sources  hyperfine 1.18's --help: its options keep their names and meanings here, unless a letter is taken.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/command_line.hpp"
#include "core/base/expected.hpp"
#include "core/model/plan.hpp"
#include "scenarios/reader/command_plans.hpp"

namespace memsweep::app {

struct RunCommand;

// Options that only programs have, and scenarios do not.
struct CommandLines {
    std::vector<std::string> names;    // --command-name, one for each text
    std::vector<std::string> prepare;  // scripts: one for all programs, or one for each
    std::vector<std::string> conclude;
    std::string setup, cleanup;  // scripts; empty: nothing
    std::string shell_program;   // "bash"; "none": no shell; empty: /bin/sh, where one is needed
    bool no_shell{};             // -N
    bool ignore_failure{};
    std::optional<std::uint32_t> min_runs, max_runs;
    std::vector<std::string> lists;  // NAME, VALUES, NAME, VALUES ...
    std::vector<std::string> scans;  // NAME, MIN, MAX ...
    std::vector<std::string> steps;  // of the scans, in their order
};

void add_command_lines(Command& command, RunCommand& run);

// Whether a text is a command line rather than the name of a scenario: it has a blank or what only a shell reads, and
// no file has that name.
[[nodiscard]] bool is_command_line(const std::string& text);

// Why a shell has to read this command line: the operator, variable or builtin in it. Empty: no shell is needed.
[[nodiscard]] std::string needs_shell(std::string_view text);

// The values from `min` to `max`, `step` apart, as a list: "1,2,3". Decimal, and exact in as many digits as the step
// has.
//
// Errors   invalid_input: no numbers, nothing in the range, or more than 10,000 values.
[[nodiscard]] base::Expected<std::string> scanned_values(const std::string& min, const std::string& max,
                                                         const std::string& step);

// Moves the texts that stand where scenarios do to `run.texts`, if they are command lines, and -L and -P to the axes.
//
// Errors   invalid_input: what does not go together, in hyperfine's words where they mean something else here.
[[nodiscard]] base::Expected<void> take_command_lines(RunCommand& run);

// One plan of all programs: a case for each, on the axis `command` if there are several, times the parameters.
[[nodiscard]] scenarios::Loaded plan_of_commands(const RunCommand& run, const scenarios::Overrides& overrides,
                                                 const scenarios::Surroundings& surroundings);

// Puts a plan of one program on the axis `command` by that name.
void name_the_command(const std::string& given, model::Plan& plan);

// What the options say of a plan of programs: prepare, conclude, setup, cleanup, and which exit codes are good.
void surround(const CommandLines& lines, model::Plan& plan);

}  // namespace memsweep::app
