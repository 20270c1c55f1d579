// The document of `compare`: every candidate against its base. The verdict comes first, then the changes, then a table
// per pair of cases.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/measure/comparison.hpp"
#include "core/model/machine.hpp"
#include "reporters/document/document.hpp"

namespace memsweep::reporters {

struct ComparisonReport {
    model::ToolInfo tool;
    std::vector<measure::Comparison> comparisons;
    bool gate{true};            // false: a regression is shown but does not fail the comparison
    bool only_changed{};        // leaves out metrics whose verdict is same, inconclusive or not judged
    bool only_judged{};         // leaves out metrics without a verdict
    bool explain{};             // adds explanation() of each verdict (wording/comparison_words.hpp)
    std::string description{};  // at the top of a page; empty: the scenario's name
};

[[nodiscard]] Document document(const ComparisonReport& report);

// Returns the comparison in a result of `run --against`, with the result's description; empty if the result has another
// origin.
[[nodiscard]] std::optional<ComparisonReport> comparison_report(const model::RunReport& report);

// Returns the part of a result of `run --against` that is shown below its comparison: all but the call sites, which the
// comparison shows already.
[[nodiscard]] model::RunReport without_sites(model::RunReport report);

[[nodiscard]] Headline headline(const measure::Comparison& comparison);

// Returns the metrics that the report shows, in the report's order.
[[nodiscard]] std::vector<const measure::MetricComparison*> shown(const ComparisonReport& report,
                                                                  const measure::Comparison& comparison);

// Names a base or a candidate: "base.json (run 2026-..., host)"; unknown parts are left out.
[[nodiscard]] std::string side_text(const measure::Side& side);

}  // namespace memsweep::reporters
