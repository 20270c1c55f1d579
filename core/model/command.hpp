// A foreign program as a case: its words, its surroundings, and the use of its output.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/allocator.hpp"
#include "core/model/end_of_work.hpp"

namespace memsweep::model {

// Relative paths begin at `cwd`; a relative `cwd` begins in the folder in which memsweep was started.
struct CommandSpec {
    std::vector<std::string> run;       // the program and its arguments; one text where `shell` is set
    std::vector<std::string> prepare;   // the same, before each repetition and outside all measurements; empty: nothing
    std::vector<std::string> cleanup;   // the same, after it
    std::vector<std::string> setup;     // the same, before the first repetition of all; empty: nothing
    std::vector<std::string> teardown;  // the same, after the last one
    std::string input;                  // file that its standard input is read from; empty: /dev/null
    std::string input_contents;         // "12 B, sha256 ...": what `input` held when the run began; empty: not known
    std::string cwd;                    // empty: as memsweep's
    Variables environment;              // added to memsweep's own, or replacing it by name; sorted by name
    std::string output{"null"};         // what becomes of its standard output: a word below, or a file
    EndOfWork end;                      // when its memory at the end is read
    std::uint32_t exit_code{};          // any other is a failure, unless it is any_exit_code
    bool shell{};                       // each of these texts is a script of /bin/sh
    bool count{};                       // its allocations are counted in repetitions of their own
};

// The exit code of a program that may end with any code, but not by a signal.
inline constexpr std::uint32_t any_exit_code = 256;

// Values of `output` beside a file's name.
inline constexpr const char* output_discarded = "null";
inline constexpr const char* output_inherited = "inherit";
inline constexpr const char* output_checksum = "checksum";

}  // namespace memsweep::model
