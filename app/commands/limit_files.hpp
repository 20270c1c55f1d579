// Limits files (scenarios/reader/criteria_files.hpp) beside results: a result is held against one, or one is made from
// a result. So a machine that is known to be healthy sets the limits for machines of its kind.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/cli/command_line.hpp"
#include "core/base/expected.hpp"
#include "core/model/report.hpp"
#include "scenarios/reader/criteria_files.hpp"

namespace memsweep::app {

// The limits of a file, or of one that ships (configs/limits/NAME.json); none if `path` is empty. No value after the
// file's errors were printed.
[[nodiscard]] std::optional<std::vector<scenarios::ProbeLimit>> limits_in(const std::string& path);

// Makes each limit an assertion of the result, in place of an earlier one of the same limit. A violated limit fails its
// case. A limit that names no measured case is violated too, unless it is optional: a missing case is no sign of
// health. Returns whether a limit is violated.
bool judge_by_limits(const std::vector<scenarios::ProbeLimit>& limits, model::RunReport& report);

struct LimitsToWrite {
    std::string path;    // empty: none
    double margin{0.1};  // how much worse than measured is still healthy, as a fraction
    bool force{};        // take figures that are not trustworthy too
};

// Declares --write-limits, --margin and --force.
void add_limits_to_write(Command& command, LimitsToWrite& limits);

// Writes limits from the figures of the cases that are `ok`: a lower limit for a bandwidth, an upper one for a latency.
// A limit is on the value that reports show: for a latency the least of its samples, else the median.
//
// Errors   invalid_input: the result says that its figures are not trustworthy; no case has such a figure; or more
//          cases have one than a file holds. io: the file cannot be written.
[[nodiscard]] base::Expected<void> write_limits(const LimitsToWrite& limits, const model::RunReport& report);

}  // namespace memsweep::app
