// What commands make of their options: the plan of `memsweep replay`, that of `memsweep run -- CMD`, and the scenario
// that `memsweep probe` writes of a transfer in words, to be kept, varied and gated.
//
// The plan of replay has one trace on every allocator, pool and release mode that was asked for. Each case is
// what a scenario file with one replay step would say, and meets the same bounds and objections.
//
// Errors   as the loader; invalid_input where a name of --on or --release is unknown, or fits no case.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/settings.hpp"
#include "core/model/transfer.hpp"
#include "scenarios/reader/loader.hpp"

namespace memsweep::scenarios {

struct ReplayRequest {
    std::string trace;
    std::vector<std::string> on;  // an allocator, pool or resource; or the path of a library; or POOL@KIND, KIND@gpuN
                                  // of a device's memory
    std::vector<std::string> release;    // modes, also MODE:PROFILE
    std::vector<std::uint32_t> threads;  // 0: as recorded
    model::ReplayTouch touch{model::ReplayTouch::recorded};
    model::ReplaySpeed speed{model::ReplaySpeed::maximum};
    std::uint64_t collect_every{10'000};  // of modes that collect and have no profile
    std::chrono::nanoseconds settle{};    // how long what stays resident after the end is watched
    bool latency{true};                   // replay once more at the end, every call timed
    std::uint32_t repetitions{6};         // fewer have no interval, and so no verdict
    std::uint32_t warmup{1};
    std::chrono::nanoseconds timeout{std::chrono::minutes{10}};
};

[[nodiscard]] Loaded replay_plan(const ReplayRequest& request, const Surroundings& surroundings);

// One case: this program with these arguments, named after the program's file. With axes (-a NAME=VALUES), which need
// not be declared anywhere, there is a case for every combination, and the words may hold ${axis.NAME}; else they are
// taken as they are.
[[nodiscard]] Loaded command_plan(const std::vector<std::string>& words, const std::string& description,
                                  const Overrides& overrides, const Surroundings& surroundings);

// Two programs to be compared, in that order: the cases of both, with the axis `build` in front, whose values are
// `base` and `candidate`; shuffled within each round. Errors: also an axis of that name in the overrides.
inline constexpr std::string_view build_axis = "build";
inline constexpr std::string_view base_build = "base";
inline constexpr std::string_view candidate_build = "candidate";
[[nodiscard]] Loaded build_comparison_plan(const std::vector<std::string>& base,
                                           const std::vector<std::string>& candidate, const std::string& description,
                                           const Overrides& overrides, const Surroundings& surroundings);

// The file that carries these transfers out, `bytes` each, with a line end; `repetitions` is at least 1.
[[nodiscard]] std::string transfer_scenario(const std::vector<model::TransferSpec>& transfers, std::uint64_t bytes,
                                            std::uint32_t repetitions);

}  // namespace memsweep::scenarios
