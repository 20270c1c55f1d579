// The tables of a result, scenario by scenario.
//
// Units    values are medians over the repetitions, except for facts and for is_shown_by_least(). They are rounded to
//          three digits. Each cell also has the exact value.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/measure/cases.hpp"
#include "core/model/report.hpp"
#include "reporters/document/case_keys.hpp"
#include "reporters/document/table.hpp"

namespace memsweep::reporters {

// Returns a table with one row per case: its time, the headline metrics of its scenario, its status, and as many of the
// metrics that model::metric_catalog() marks for this kind of case as there is room for. Returns figures_table() for
// cases of a probe.
[[nodiscard]] Table overview_table(const Cases& cases, const std::vector<std::string>& headline = {});
[[nodiscard]] Table metrics_table(const Cases& cases);  // one row per case and metric, with spread and interval

// points_table(): working set and live bytes at the named points. phases_table(): time and page faults of each phase.
// Empty if a result has no points or phases.
[[nodiscard]] std::optional<Table> points_table(const Cases& cases);
[[nodiscard]] std::optional<Table> phases_table(const Cases& cases);

// Returns the heading for the assertions and limits of a result: "Assertions", "Limits", or both words.
[[nodiscard]] std::string claims_heading(const model::RunReport& report);
// Returns a table of all assertions; those that hold come last. Empty if the result has no assertions.
[[nodiscard]] std::optional<Table> assertions_table(const model::RunReport& report);

// Returns a table of what it costs to share a worker process. It has one row for each case that ran in two ways: in a
// worker process that ran the scenario's other cases before it, and in a worker of its own. A row has both times, their
// ratio, page faults, and time per fault. Empty if no case ran in both ways.
[[nodiscard]] std::optional<Table> placement_table(const Cases& cases);

// Whether these are the cases of a probe, which belong in figures_table(). Such cases have facts and no working set.
[[nodiscard]] bool are_figures(const Cases& cases);

// A row for a case, or for several skipped cases. If more than three cases were skipped for the same reason, only the
// first of them gets a row; `alike` is their number, the first included.
struct FoldedCase {
    const model::CaseReport* report{};
    std::size_t alike{1};
};
[[nodiscard]] std::vector<FoldedCase> folded_cases(const Cases& cases);

// figures_table(): a row per measurement of a probe, with its value, its interval, and the value as a share of the best
// one. A case without a measured value has a row per fact instead. matrix_table(): a quantity measured between every
// two NUMA nodes.
[[nodiscard]] Table figures_table(const Cases& cases);
[[nodiscard]] Table matrix_table(const measure::PlaceMatrix& matrix);

// Whether the metric is a latency, which is shown by its least sample and not by its median: other work on the machine
// can only make it longer.
[[nodiscard]] bool is_shown_by_least(std::string_view metric);
[[nodiscard]] double shown_value(const model::Metric& metric);  // the metric must have a summary

// Returns the metric of this name if the case has it with a summary; else nullptr.
[[nodiscard]] const model::Metric* summarised(const model::CaseReport& report, std::string_view name);
// Returns a cell with the status as a word, in a suitable tone. Cell::exact holds the reason.
[[nodiscard]] Cell status_cell(const model::CaseReport& report);
[[nodiscard]] std::string joined(const std::string& left, const std::string& right);  // "left; right"

// Returns the median, over the repetitions, of a field of the phase `name`. If a phase appears several times in a
// repetition, its values there are added up first.
template <typename Field>
[[nodiscard]] std::optional<double> phase_median(const model::CaseReport& report, const std::string& name,
                                                 Field model::Phase::*field)
{
    std::map<std::uint32_t, double> sums;
    for (const model::Phase& phase : report.phases) {
        if (phase.name == name) {
            sums[phase.repetition] += static_cast<double>(phase.*field);
        }
    }
    std::vector<double> values;
    std::ranges::transform(sums, std::back_inserter(values), [](const auto& entry) { return entry.second; });
    return median_of(std::move(values));
}

// Returns the names of points or phases, in the order in which they first appear.
template <typename Named>
[[nodiscard]] std::vector<std::string> names_in_order(const Cases& cases,
                                                      const std::vector<Named> model::CaseReport::*list)
{
    std::vector<std::string> names;
    for (const model::CaseReport* report : cases) {
        for (const Named& item : report->*list) {
            if (std::ranges::find(names, item.name) == names.end()) {
                names.push_back(item.name);
            }
        }
    }
    return names;
}

}  // namespace memsweep::reporters
