// Makes a plan from the options of `memsweep replay`: one trace on every requested allocator, pool and release mode.
// Each case is checked like the case of a scenario file with a single replay step: the same bounds and objections hold.
//
// Errors   as the loader's; invalid_input: a name of --on or --release is unknown, or suits no case.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/allocator.hpp"
#include "core/model/settings.hpp"
#include "scenarios/reader/loader.hpp"

namespace memsweep::scenarios {

struct ReplayRequest {
    std::string trace;
    std::vector<std::string> on;  // an allocator, with settings too (jemalloc{dirty_decay=0s}); a pool or resource; the
                                  // path of a library; or, for a device's memory, POOL@KIND or KIND@gpuN
    model::Variables environment;        // the caller's; each allocator gets the variables that are meant for it
    std::vector<std::string> release;    // release modes, or MODE:PROFILE
    std::vector<std::uint32_t> threads;  // 0: as recorded
    model::ReplayTouch touch{model::ReplayTouch::recorded};
    model::ReplaySpeed speed{model::ReplaySpeed::maximum};
    std::vector<std::string> without;     // names of call sites to leave out
    std::vector<bool> left_out;           // by the number of a call stack: true if the stack is left out
    std::string until;                    // moment at which the replay ends (trace::TraceMoment); empty: "exit"
    std::uint64_t collect_every{10'000};  // for release modes with a collector, if no profile is given
    // How long a replay idles after its last event. It is also the longest time for which the replay's resident memory
    // is watched after everything has been freed. Empty: a replay idles for 12 s on allocators that return memory after
    // a delay, and for 1 s on all others; the watch is not shortened.
    std::optional<std::chrono::nanoseconds> settle;
    bool latency{true};            // one more replay at the end, with every call timed
    std::uint32_t repetitions{6};  // with fewer than six, there is no interval, and so no verdict
    std::uint32_t warmup{1};
    std::chrono::nanoseconds timeout{std::chrono::minutes{10}};
};

[[nodiscard]] Loaded replay_plan(const ReplayRequest& request, const Surroundings& surroundings);

}  // namespace memsweep::scenarios
