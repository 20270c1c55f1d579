// What a scenario needs to know of a trace before it is replayed: whether it can be read, and what it will hold.
//
// Units    bytes, counts.
// Cost     a pass over the trace, 50 ns an event: a driver that loads several scenarios keeps what it was told.
// Errors   as TraceReader::open.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/expected.hpp"
#include "core/model/settings.hpp"
#include "core/model/step.hpp"
#include "scenarios/reader/diagnostics.hpp"

namespace memsweep::scenarios {

struct TraceFacts {
    std::string path;
    std::string content;  // digest of its totals, sizes and lifetimes: equal for equal traces, wherever they lie
    std::uint64_t events{};
    std::uint64_t threads{};
    std::uint64_t peak_live_bytes{};
    std::uint64_t bytes_allocated{};
    std::uint64_t largest_block_bytes{};
    model::ReplayTouch touch{model::ReplayTouch::first_byte};  // what ReplayTouch::recorded means
    bool copies{};                                             // it resizes or transfers
};

inline constexpr const char* touch_fact = "touch";  // of a trace: a name of ReplayTouch

[[nodiscard]] base::Expected<TraceFacts> trace_facts(const std::string& path);

// A relative path as seen from the folder of the file that `place` lies in.
[[nodiscard]] std::string beside(const Place& place, const std::string& path);

}  // namespace memsweep::scenarios
