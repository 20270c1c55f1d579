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

// Plain values: a supervising process writes them into shared memory.
struct CommandUse {
    std::int64_t wall_ns{};
    std::int64_t cpu_ns{};
    std::uint64_t minor_faults{};
    std::uint64_t major_faults{};
    std::uint64_t peak_working_set_bytes{};  // of all its processes together
    std::chrono::nanoseconds user_time{};
    std::chrono::nanoseconds system_time{};
    std::uint64_t context_switches{};
    std::uint64_t read_bytes{};
    std::uint64_t written_bytes{};
    std::optional<double> pressure_seconds;
    sys::HardwareCounts hardware;
    std::uint64_t left_processes{};  // processes that it left behind; they were killed
};

struct CommandRecord : CommandUse {
    std::string checksum;  // of its output; empty: not requested
    // From the counting run after the repetition; nullopt: there was no such run, or it failed.
    std::optional<trace::Counts> counts;
    std::string why_uncounted;            // why counting failed; empty: it did not fail
    std::uint64_t counted_under_bytes{};  // the limit of its address space in the counting run; 0: none, or not counted
    std::optional<model::NameLengths> names;  // of the counting run
    Moment at_end;            // its memory at the end of its work; a working set of 0: not requested, or not read
    std::string why_unasked;  // why the program's malloc is not known; empty: it is, or the case names no allocator
};

}  // namespace memsweep::engine
