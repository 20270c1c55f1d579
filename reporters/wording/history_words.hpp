// A history in words.
#pragma once

#include <string>

#include "core/measure/history.hpp"

namespace memsweep::reporters {

// "1.10x (95 % interval 1.08 to 1.12)"; for an exact counter "300 instead of 100".
[[nodiscard]] std::string change_text(const measure::Trend& trend, const measure::Change& change);

// The run where a change began: "run 14 of 30, 2026-01-31T12:00:00Z".
[[nodiscard]] std::string run_text(const measure::RunPlace& place);

// Why nothing can be said about a trend; empty: something can be said.
[[nodiscard]] std::string too_few_text(const measure::Trend& trend);

[[nodiscard]] std::string left_out_text(const measure::LeftOut& one);

}  // namespace memsweep::reporters
