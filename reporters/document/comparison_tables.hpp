// The tables of a comparison: one per pair of cases, what both measured and what that comes to.
#pragma once

#include <vector>

#include "reporters/document/comparison_report.hpp"
#include "reporters/document/table.hpp"

namespace memsweep::reporters {

struct CaseTable {
    std::size_t pair{};  // of the comparison's cases
    Table table;
};

// Without the cases of which no metric is shown.
[[nodiscard]] std::vector<CaseTable> case_tables(const ComparisonReport& report, const measure::Comparison& comparison);

[[nodiscard]] Tone tone_of(measure::Verdict verdict);

// "1.10x", "+64": how far the candidate is from the base; empty when they were not compared.
[[nodiscard]] std::string shift_text(const measure::MetricComparison& metric, double value);

// The title of a case's table.
[[nodiscard]] std::string case_title(const measure::Comparison& comparison, const measure::ComparedCase& one);

}  // namespace memsweep::reporters
