// Histories for a job summary, in GitHub's Markdown: the verdict first, the trends folded away.
#pragma once

#include <string>

#include "reporters/history_report.hpp"

namespace memsweep::reporters {

[[nodiscard]] std::string to_markdown(const HistoryReport& report);

}  // namespace memsweep::reporters
