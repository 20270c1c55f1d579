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

// Each limit becomes an assertion of the result, in the place of an earlier one of the same, and a violated one fails
// its case. A limit that speaks of no measured
// case is violated too, unless it is optional: what is gone is no longer healthy.
// Whether one is violated.
bool judge_by_limits(const std::vector<scenarios::ProbeLimit>& limits, model::RunReport& report);

struct LimitsToWrite {
    std::string path;    // empty: none
    double margin{0.1};  // how much worse than measured is still healthy, as a fraction
    bool force{};        // takes figures that are not trustworthy too
};

// Declares --write-limits, --margin and --force.
void add_limits_to_write(Command& command, LimitsToWrite& limits);

// Writes them from the figures of the cases that are `ok`: of a bandwidth the least, of a latency the most. What a
// report shows of a figure is what is limited: of a latency the least of its samples, else the median.
//
// Errors   invalid_input: the result says that the machine was not to be trusted, no case has such a figure, or more
// have than a file holds; io: it cannot be written.
[[nodiscard]] base::Expected<void> write_limits(const LimitsToWrite& limits, const model::RunReport& report);

}  // namespace memsweep::app
