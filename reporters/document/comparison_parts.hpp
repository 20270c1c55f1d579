// The parts of a comparison's document: a table per pair of cases, and a chart of the changes.
#pragma once

#include <optional>
#include <vector>

#include "reporters/document/chart.hpp"
#include "reporters/document/comparison.hpp"

namespace memsweep::reporters {

// The measurements of both cases, and their verdicts.
struct CaseTable {
    std::size_t pair{};  // index of the comparison's pair of cases
    Table table;
    bool is_changed{};
};

// Returns the tables of those cases that have at least one metric to show.
[[nodiscard]] std::vector<CaseTable> case_tables(const ComparisonReport& report, const measure::Comparison& comparison);

// Writes `value`, a ratio or difference between candidate and base, as in "1.10x" or "+64". Empty if the metric was not
// compared.
[[nodiscard]] std::string shift_text(const measure::MetricComparison& metric, double value);

// Returns the title of a case's table.
[[nodiscard]] std::string case_title(const measure::Comparison& comparison, const measure::ComparedCase& one);

// Returns a chart of ratios with their intervals on one axis, on which "no change" is marked. The chart shows the
// metrics that changed, the largest change first. If no metric changed, it shows the time of every case. Empty if no
// ratio is known.
[[nodiscard]] std::optional<Chart> comparison_chart(const measure::Comparison& comparison);

}  // namespace memsweep::reporters
