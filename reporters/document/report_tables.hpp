// The tables a reader of a result wants, scenario by scenario.
//
// Units    figures are medians over the repetitions, rounded to three digits; each cell carries its exact value too.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/model/report.hpp"
#include "reporters/document/case_keys.hpp"
#include "reporters/document/table.hpp"

namespace memsweep::reporters {

struct ScenarioCases {
    std::string scenario;
    Cases cases;
};

// In order of appearance.
[[nodiscard]] std::vector<ScenarioCases> cases_by_scenario(const model::RunReport& report);

// One row per case: time, working set, faults, status; of a probe what figures_table() shows.
[[nodiscard]] Table overview_table(const Cases& cases);
[[nodiscard]] Table metrics_table(const Cases& cases);  // one row per case and metric, with spread and interval

// Working set and live bytes at the named points, and time and page faults of each phase; empty when there are none.
[[nodiscard]] std::optional<Table> points_table(const Cases& cases);
[[nodiscard]] std::optional<Table> phases_table(const Cases& cases);

// Every assertion, the failed ones first; empty when there are none.
[[nodiscard]] std::optional<Table> assertions_table(const model::RunReport& report);

// "FAILED", "warned" or "held", and how that is to be shown.
[[nodiscard]] Cell verdict_cell(const model::AssertionResult& assertion);

}  // namespace memsweep::reporters
