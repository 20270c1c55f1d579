// Which cases share a chart: those that differ only in their release mode, a few at a time.
//
// Ownership  groups point into the report.
#pragma once

#include <string>
#include <vector>

#include "reporters/document/case_keys.hpp"

namespace memsweep::reporters {

struct ChartCase {
    std::string label;  // unique in its group, inert: the mode, or the axes that vary
    const model::CaseReport* report{};
};

struct ChartGroup {
    std::string title;  // "collect_every=20" of what its cases share and others do not; may be empty
    std::vector<ChartCase> cases;
};

// At most `most` cases each, in their order.
[[nodiscard]] std::vector<ChartGroup> chart_groups(const Cases& cases, std::size_t most);

// Labels made inert and told apart.
void make_distinct(std::vector<std::string>& labels);

}  // namespace memsweep::reporters
