// A foreign program as a case: its arguments, its environment, and the use of its output.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/model/allocator.hpp"
#include "core/model/end_of_work.hpp"

namespace memsweep::model {

// Relative paths begin at `cwd`. A relative `cwd` begins in the folder in which memsweep was started.
struct CommandSpec {
    std::vector<std::string> run;       // the program and its arguments; a single element if `shell` is set
    std::string typed;                  // `run` as one text, as the user typed it; empty: the user gave separate words
    std::vector<std::string> prepare;   // a command that runs before each repetition, never measured; empty: none
    std::vector<std::string> cleanup;   // a command that runs after each repetition, never measured; empty: none
    std::vector<std::string> setup;     // a command that runs once, before the first repetition; empty: none
    std::vector<std::string> teardown;  // a command that runs once, after the last repetition; empty: none
    std::string input;                  // file for the program's standard input; empty: /dev/null
    std::string input_contents;         // "12 B, sha256 ...": contents of `input` when the run began; empty: not known
    std::string cwd;                    // the program's working folder; empty: memsweep's own
    Variables environment;       // added to memsweep's own variables; replaces those of the same name; sorted by name
    std::string output{"null"};  // use of the program's standard output: an output_ word below, or a file's path
    EndOfWork end;               // the moment at which the program's memory "at the end" is read
    std::uint32_t exit_code{};   // the expected exit code, or any_exit_code
    std::vector<std::uint32_t> ignored_codes;  // exit codes that are successes, too
    bool shell{};                              // each command is a script for /bin/sh
    bool count{};                              // allocations are counted, in additional repetitions
};

// Value of CommandSpec::exit_code: any exit code is accepted, but not an end by a signal.
inline constexpr std::uint32_t any_exit_code = 256;

[[nodiscard]] inline bool is_success(const CommandSpec& command, std::uint32_t code)
{
    return command.exit_code == any_exit_code || command.exit_code == code ||
           std::ranges::find(command.ignored_codes, code) != command.ignored_codes.end();
}

// Values of CommandSpec::output that are not a file's path.
inline constexpr const char* output_discarded = "null";
inline constexpr const char* output_inherited = "inherit";
inline constexpr const char* output_piped = "pipe";         // read through a pipe, and discarded
inline constexpr const char* output_checksum = "checksum";  // as output_piped, and every run must print the same

}  // namespace memsweep::model
