// Limits files (scenarios/reader/criteria_files.hpp) beside results: a result held against one, and one made from a
// result, so that a machine known to be healthy says what its likes must reach.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/cli/command_line.hpp"
#include "core/base/expected.hpp"
#include "core/model/report.hpp"
#include "scenarios/reader/criteria_files.hpp"

namespace memsweep::app {

// Those of a file; none where `path` is empty. No value after the file's errors were printed.
[[nodiscard]] std::optional<std::vector<scenarios::ProbeLimit>> limits_in(const std::string& path);

// Each limit becomes an assertion of the result, and a violated one fails its case. A limit that speaks of no measured
// case is violated too, unless it is optional: what is gone is no longer healthy.
void judge_by_limits(const std::vector<scenarios::ProbeLimit>& limits, model::RunReport& report);

struct LimitsToWrite {
    std::string path;    // empty: none
    double margin{0.1};  // how much worse than measured is still healthy, as a fraction
};

// Declares --write-limits and --margin.
void add_limits_to_write(Command& command, LimitsToWrite& limits);

// Writes them from the figures of the cases that are `ok`: of a bandwidth the least, of a latency the most.
//
// Errors   invalid_input: no case has such a figure, or more have than a file holds; io: it cannot be written.
[[nodiscard]] base::Expected<void> write_limits(const LimitsToWrite& limits, const model::RunReport& report);

}  // namespace memsweep::app
