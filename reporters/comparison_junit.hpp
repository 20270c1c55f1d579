// A comparison as JUnit XML: a test suite per scenario, a test case per judged metric, a failure where one regressed.
//
// Errors   none: text is escaped, and what XML cannot hold becomes U+FFFD.
#pragma once

#include <string>

#include "reporters/comparison_report.hpp"

namespace memsweep::reporters {

// With the gate off nothing is a failure; what would have been one stands in the output of its test case.
[[nodiscard]] std::string to_junit(const ComparisonReport& report);

}  // namespace memsweep::reporters
