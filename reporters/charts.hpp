// The charts of a result, in the order in which a reader wants them.
#pragma once

#include <string>
#include <vector>

#include "reporters/chart.hpp"
#include "reporters/curve_chart.hpp"

namespace memsweep::reporters {

struct ChartSection {
    std::string title;  // what its cases share and others do not, inert; may be empty
    std::vector<Chart> charts;
};

// Of one scenario's cases: what is swept, then memory and page faults of each few cases. No section is empty.
[[nodiscard]] std::vector<ChartSection> chart_sections(const Cases& cases, const CurveDetail& detail);

}  // namespace memsweep::reporters
