// A comparison for a job summary or a merge request: GitHub's Markdown, the verdict first, unchanged rows folded away.
//
// Errors   none: names from results can neither end a cell nor mention, link or format anything.
#pragma once

#include <string>

#include "reporters/comparison_report.hpp"

namespace memsweep::reporters {

[[nodiscard]] std::string to_markdown(const ComparisonReport& report);

}  // namespace memsweep::reporters
