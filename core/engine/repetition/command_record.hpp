// The measurements of a foreign program in one repetition.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "core/engine/repetition/moment.hpp"
#include "core/model/report.hpp"
#include "core/sys/hardware_counters.hpp"
#include "core/trace/counts.hpp"

namespace memsweep::engine {

// Plain values, which a supervising process writes into shared memory.
struct CommandUse {
    std::int64_t wall_ns{};
    std::int64_t cpu_ns{};
    std::uint64_t minor_faults{};
    std::uint64_t major_faults{};
    std::uint64_t peak_working_set_bytes{};  // of all its processes at once
    std::chrono::nanoseconds user_time{};
    std::chrono::nanoseconds system_time{};
    std::uint64_t context_switches{};
    std::uint64_t read_bytes{};
    std::uint64_t written_bytes{};
    std::optional<double> pressure_seconds;
    sys::HardwareCounts hardware;
    std::uint64_t left_processes{};  // processes that it left behind, and that were killed
};

struct CommandRecord : CommandUse {
    std::string checksum;                 // over what it printed; empty: not asked for
    std::optional<trace::Counts> counts;  // from the counting run after it; empty: none, or not countable
    std::string why_uncounted;            // empty: it was counted, or that was not asked for
    std::uint64_t counted_under_bytes{};  // the limit of its addresses while it was counted; 0: none, or not counted
    std::optional<model::NameLengths> names;  // as it was called when it was counted
    Moment at_end;                            // its memory when its work was done, if that is asked for
    std::string why_unasked;                  // why its malloc is not known, if the case names one; empty: it is
};

}  // namespace memsweep::engine
