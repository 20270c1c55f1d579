// One metric of one case from run to run: medians with their intervals, the levels they lie on, and where those change.
#pragma once

#include "reporters/document/chart.hpp"
#include "reporters/document/history_report.hpp"

namespace memsweep::reporters {

[[nodiscard]] Chart history_chart(const measure::History& history, const measure::Trend& trend);

}  // namespace memsweep::reporters
