// Judges a result by a limits file (scenarios/reader/criteria_files.hpp), or writes a limits file from a result. So a
// machine known to be healthy sets the limits for machines of its kind.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/cli/command_line.hpp"
#include "core/base/expected.hpp"
#include "core/model/report.hpp"
#include "scenarios/reader/criteria_files.hpp"

namespace memsweep::app {

// Reads a limits file. `path`: its path, or the name of a shipped one (configs/limits/NAME.json); empty: no limits. On
// errors prints them and returns nullopt.
[[nodiscard]] std::optional<std::vector<scenarios::ProbeLimit>> limits_in(const std::string& path);

// Adds each limit to the result as an assertion, replacing an earlier assertion for that limit. A violated limit fails
// its case. A required limit whose case was not measured is violated, too. Returns whether any limit is violated.
bool judge_by_limits(const std::vector<scenarios::ProbeLimit>& limits, model::RunReport& report);

struct LimitsToWrite {
    std::string path;    // empty: none
    double margin{0.1};  // how much worse than measured is still healthy, as a fraction
    bool force{};        // use untrustworthy figures, too
};

// Declares --write-limits, --margin and --force.
void add_limits_to_write(Command& command, LimitsToWrite& limits);

// Writes limits from the figures of the cases that are `ok`: a lower limit for a bandwidth, an upper one for a latency.
// A limit applies to the value that reports show: the smallest sample of a latency, the median of a bandwidth.
//
// Errors   invalid_input: the result says that its figures are not trustworthy; no case has a bandwidth or latency; or
//          there are more such cases than a limits file may hold. io: the file cannot be written.
[[nodiscard]] base::Expected<void> write_limits(const LimitsToWrite& limits, const model::RunReport& report);

}  // namespace memsweep::app
