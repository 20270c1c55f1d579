// A comparison as JSON: `format: memsweep-comparison`, version 1, as docs/result-format.md describes it.
#pragma once

#include <string>

#include "reporters/document/comparison_report.hpp"

namespace memsweep::reporters {

// One document ending in a newline; the same comparison gives the same bytes.
[[nodiscard]] std::string to_json(const ComparisonReport& report);

}  // namespace memsweep::reporters
