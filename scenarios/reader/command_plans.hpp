// Makes plans and scenarios from the options of commands: the plan of `memsweep run -- CMD`, or the scenario that
// `memsweep probe` writes for transfers described in words. Users can keep such a scenario, change it and compare its
// results.
//
// Errors   as the loader's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/transfer.hpp"
#include "scenarios/reader/loader.hpp"

namespace memsweep::scenarios {

// Makes a plan of one case: this program with these arguments. The case is named after the program's file. Axes (-a
// NAME=VALUES) need no declaration. With axes there is a case for every combination of their values; the words must be
// UTF-8, and may contain ${axis.NAME}. Without axes the words are taken unchanged, with any bytes. With `shell`,
// `words` has one element, a script for /bin/sh; the case is named after the first word in that script.
[[nodiscard]] Loaded command_plan(const std::vector<std::string>& words, const std::string& description,
                                  const Overrides& overrides, const Surroundings& surroundings, bool shell = false);

// Makes a plan that compares two programs. The plan has the cases of both programs. These cases have one more axis,
// `build`, with the values `base` and `candidate`. The cases are shuffled within each round.
//
// Errors   also: the overrides have an axis named `build`.
inline constexpr std::string_view build_axis = "build";
inline constexpr std::string_view base_build = "base";
inline constexpr std::string_view candidate_build = "candidate";
[[nodiscard]] Loaded build_comparison_plan(const std::vector<std::string>& base,
                                           const std::vector<std::string>& candidate, const std::string& description,
                                           const Overrides& overrides, const Surroundings& surroundings,
                                           bool shell = false);

// Sets this file as the standard input of every program of a plan that the functions above made. The fingerprints cover
// the file's contents but not its name, because the same bytes from another file are the same measurement.
void give_input(model::Plan& plan, const std::string& path, const std::string& contents);

// Returns the text of a scenario that makes these transfers, each of `bytes` bytes. The text ends in a newline.
// `repetitions`: at least 1.
[[nodiscard]] std::string transfer_scenario(const std::vector<model::TransferSpec>& transfers, std::uint64_t bytes,
                                            std::uint32_t repetitions);

}  // namespace memsweep::scenarios
