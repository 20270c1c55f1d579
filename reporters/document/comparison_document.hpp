// What a comparison says: the verdict, what changed, then a table per pair of cases.
#pragma once

#include "reporters/document/comparison_report.hpp"
#include "reporters/document/document.hpp"

namespace memsweep::reporters {

[[nodiscard]] Document document(const ComparisonReport& report, const Audience& audience);

}  // namespace memsweep::reporters
