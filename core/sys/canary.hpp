// A short measurement of fixed work, repeated: what a program that never changes is seen to vary by, on this machine
// now.
//
// Units    seconds per round.
// Sources  one round computes a fixed chain of integer operations, then copies 4 MiB within memory touched before;
//          steal time from /proc/stat below `root`.
// Memory   8 MiB while it runs.
// Errors   none: without memory nothing is copied, without /proc/stat there is no steal time.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "core/sys/clock.hpp"

namespace memsweep::sys {

struct CanaryReadings {
    std::vector<double> compute_seconds;
    std::vector<double> copy_seconds;
    std::optional<double> steal_share;  // of the time of all processors, taken by the hypervisor meanwhile
};

struct CanaryLimits {
    int rounds{600};
    int fewest_rounds{10};
    std::chrono::nanoseconds time{std::chrono::milliseconds{1200}};  // ends early, after the fewest rounds
};

[[nodiscard]] CanaryReadings run_canary(const Clock& clock, const CanaryLimits& limits, const std::string& root = "/");

}  // namespace memsweep::sys
