// What the document of a comparison is made of: a table per pair of cases, and a chart of what changed.
#pragma once

#include <optional>
#include <vector>

#include "reporters/document/chart.hpp"
#include "reporters/document/comparison.hpp"

namespace memsweep::reporters {

// What both cases measured and what that comes to.
struct CaseTable {
    std::size_t pair{};  // index of the comparison's pair of cases
    Table table;
    bool is_changed{};
};

// Tables of the cases, without those of which no metric is shown.
[[nodiscard]] std::vector<CaseTable> case_tables(const ComparisonReport& report, const measure::Comparison& comparison);

// "1.10x", "+64": how far the candidate is from the base; empty when they were not compared.
[[nodiscard]] std::string shift_text(const measure::MetricComparison& metric, double value);

// The title of a case's table.
[[nodiscard]] std::string case_title(const measure::Comparison& comparison, const measure::ComparedCase& one);

// Each ratio with its interval on one axis, and where "no change" lies. It has the metrics that changed, the largest
// change first; if none did, the time of every case. Empty where no ratio is known.
[[nodiscard]] std::optional<Chart> comparison_chart(const measure::Comparison& comparison);

}  // namespace memsweep::reporters
