// What `report` writes of several results: the histories they make.
#pragma once

#include <vector>

#include "core/measure/history.hpp"
#include "core/model/tool_info.hpp"
#include "reporters/document/headline.hpp"
#include "reporters/document/table.hpp"

namespace memsweep::reporters {

struct HistoryReport {
    model::ToolInfo tool;
    measure::Histories histories;
};

[[nodiscard]] Headline headline(const measure::History& history);

[[nodiscard]] std::string span_text(const measure::History& history);  // "30 runs from ... to ..., on MACHINE"

// A row per change, the latest first, regressions before improvements of the same run.
[[nodiscard]] Table changes_table(const measure::History& history);

// A row per trend: its first and its latest run, and all that lies between. `all`: else only times, the working set and
// what changed.
[[nodiscard]] Table trends_table(const measure::History& history, bool all);

// The case's name without its scenario's.
[[nodiscard]] std::string case_name(const measure::History& history, const measure::Trend& trend);

[[nodiscard]] Tone tone_of_change(measure::Verdict verdict);

}  // namespace memsweep::reporters
