// What `memsweep replay` makes of its options: one trace on every allocator, pool and release mode that was asked for.
// Each case is what a scenario file with one replay step would say, and meets the same bounds and objections.
//
// Errors   as the loader; invalid_input where a name of --on or --release is unknown, or fits no case.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "core/model/settings.hpp"
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

}  // namespace memsweep::scenarios
