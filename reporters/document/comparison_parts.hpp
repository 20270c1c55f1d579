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

// Tables of the cases that have at least one metric to show.
[[nodiscard]] std::vector<CaseTable> case_tables(const ComparisonReport& report, const measure::Comparison& comparison);

// "1.10x", "+64": the distance of the candidate from the base; empty if they were not compared.
[[nodiscard]] std::string shift_text(const measure::MetricComparison& metric, double value);

// The title of a case's table.
[[nodiscard]] std::string case_title(const measure::Comparison& comparison, const measure::ComparedCase& one);

// A chart of ratios with their intervals on one axis, on which "no change" is marked. It shows the metrics that
// changed, the largest change first. If none changed, it shows the time of every case. Empty if no ratio is known.
[[nodiscard]] std::optional<Chart> comparison_chart(const measure::Comparison& comparison);

}  // namespace memsweep::reporters
