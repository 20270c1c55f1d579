// What a reader of a history should know first: the latest and the worst changes, in sentences.
#pragma once

#include <string>
#include <vector>

#include "core/measure/history.hpp"

namespace memsweep::measure {

// Regressions first, the latest of them first; a few of each, then how many more there are.
[[nodiscard]] std::vector<Finding> history_findings(const History& history);

// "1.10x (95 % interval 1.08 to 1.12)"; of an exact counter "300 instead of 100".
[[nodiscard]] std::string change_text(const Trend& trend, const Change& change);

// "run 14 of 30, 2026-01-31T12:00:00Z": where it began.
[[nodiscard]] std::string run_text(const History& history, std::size_t run);

}  // namespace memsweep::measure
