// A history in words.
#pragma once

#include <string>

#include "core/measure/history.hpp"

namespace memsweep::reporters {

// Says how large a change is: "1.10x (95 % interval 1.08 to 1.12)"; for an exact counter "300 instead of 100".
[[nodiscard]] std::string change_text(const measure::Trend& trend, const measure::Change& change);

// Names the run with which a change begins: "run 14 of 30, 2026-01-31T12:00:00Z".
[[nodiscard]] std::string run_text(const measure::RunPlace& place);

// Says why a trend cannot be judged; empty: it can be judged.
[[nodiscard]] std::string too_few_text(const measure::Trend& trend);

[[nodiscard]] std::string left_out_text(const measure::LeftOut& one);

}  // namespace memsweep::reporters
