// Makes plans and scenarios from options of commands: the plan of `memsweep run -- CMD`, and the scenario that
// `memsweep probe` writes for a transfer in words, to be kept, varied and gated.
//
// Errors   as the loader.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/transfer.hpp"
#include "scenarios/reader/loader.hpp"

namespace memsweep::scenarios {

// One case: this program with these arguments, named after the program's file. Axes (-a NAME=VALUES) need no
// declaration. With them there is a case for every combination, and the words, in UTF-8, may hold ${axis.NAME}. Without
// them the words are taken unchanged, with any bytes. With `shell` there is one word, a script of /bin/sh; the case is
// named after the script's first word.
[[nodiscard]] Loaded command_plan(const std::vector<std::string>& words, const std::string& description,
                                  const Overrides& overrides, const Surroundings& surroundings, bool shell = false);

// Two programs to be compared, in that order: the cases of both, with the axis `build` in front, whose values are
// `base` and `candidate`. They are shuffled within each round. Errors: also an axis of that name in the overrides.
inline constexpr std::string_view build_axis = "build";
inline constexpr std::string_view base_build = "base";
inline constexpr std::string_view candidate_build = "candidate";
[[nodiscard]] Loaded build_comparison_plan(const std::vector<std::string>& base,
                                           const std::vector<std::string>& candidate, const std::string& description,
                                           const Overrides& overrides, const Surroundings& surroundings,
                                           bool shell = false);

// Makes every program of such a plan read this file as its standard input. The fingerprints cover its contents and not
// its name: the same bytes from elsewhere are the same measurement.
void give_input(model::Plan& plan, const std::string& path, const std::string& contents);

// The text of a scenario that carries out these transfers, `bytes` each, with a line end. `repetitions` is at least 1.
[[nodiscard]] std::string transfer_scenario(const std::vector<model::TransferSpec>& transfers, std::uint64_t bytes,
                                            std::uint32_t repetitions);

}  // namespace memsweep::scenarios
