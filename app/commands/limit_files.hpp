// Judges a result by a limits file (scenarios/reader/criteria_files.hpp), or writes a limits file from a result. The
// limits for one kind of machine come from the result of such a machine that is known to be healthy.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/cli/command_line.hpp"
#include "core/base/expected.hpp"
#include "core/model/report.hpp"
#include "scenarios/reader/criteria_files.hpp"

namespace memsweep::app {

// Reads a limits file. `path`: its path, or the name of a shipped limits file (configs/limits/NAME.json); empty: no
// limits. On errors prints them and returns nullopt.
[[nodiscard]] std::optional<std::vector<scenarios::ProbeLimit>> limits_in(const std::string& path);

// Adds each limit to the result as an assertion; an earlier assertion for the same limit is replaced. A violated limit
// of severity `fail` fails its case. A required limit whose case was not measured is violated, too. Returns whether any
// limit is violated.
bool judge_by_limits(const std::vector<scenarios::ProbeLimit>& limits, model::RunReport& report);

struct LimitsToWrite {
    std::string path;    // the limits file to write; empty: none is written
    double margin{0.1};  // how much worse than the measured value still counts as healthy, as a fraction of that value
    bool force{};        // also use values that the result calls untrustworthy
};

// Declares --write-limits, --margin and --force.
void add_limits_to_write(Command& command, LimitsToWrite& limits);

// Writes limits from the measured values of the cases whose status is `ok`: a lower limit for a bandwidth, an upper one
// for a latency. A limit is derived from the value that reports show: the smallest sample of a latency, the median of a
// bandwidth.
//
// Errors   invalid_input: the result says that its values are not trustworthy, and `force` is not set; no case has a
//          bandwidth or latency; or there are more such cases than a limits file may hold. io: the file cannot be
//          written.
[[nodiscard]] base::Expected<void> write_limits(const LimitsToWrite& limits, const model::RunReport& report);

}  // namespace memsweep::app
