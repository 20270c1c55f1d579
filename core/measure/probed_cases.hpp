// Finds the measured cases of a probe by scenario, metric and parameters. The findings about a machine's memory use
// them.
//
// Ownership  a ProbedCase points into the report that it was made from.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/measure/cases.hpp"
#include "core/measure/statistics.hpp"
#include "core/measure/summary.hpp"
#include "core/model/metric_id.hpp"
#include "core/model/report.hpp"

namespace memsweep::measure {

// text_of and number_of return the value of a parameter of the case. They return an empty text or 0 if the case has no
// parameter of this name, or if its value has another type.
[[nodiscard]] std::string text_of(const model::CaseReport& one, std::string_view name);
[[nodiscard]] std::int64_t number_of(const model::CaseReport& one, std::string_view name);

// A measured case of a scenario, with the median and the best sample of one metric. The best sample is the shortest
// time or the highest bandwidth. Other work on the machine only makes times longer, so the best sample is closest to
// what the memory can do.
struct ProbedCase {
    const model::CaseReport* report{};
    double median{};
    double best{};
};

// Returns the cases of the scenario that are ok, that have values of the metric, and for which wanted(case) is true.
template <typename Wanted>
[[nodiscard]] std::vector<ProbedCase> measured(std::span<const model::CaseReport* const> cases,
                                               std::string_view scenario, std::string_view metric, Wanted wanted)
{
    std::vector<ProbedCase> found;
    for (const model::CaseReport* one : cases) {
        if (one->scenario != scenario || one->status != model::Status::ok || !wanted(*one)) {
            continue;
        }
        const std::vector<double> values = present(case_values(*one, {}, metric));
        if (!values.empty()) {
            const auto [least, most] = std::ranges::minmax(values);
            found.push_back({one, measure::median(values), metric == model::metrics::bandwidth ? most : least});
        }
    }
    return found;
}

[[nodiscard]] std::vector<ProbedCase> measured(std::span<const model::CaseReport* const> cases,
                                               std::string_view scenario, std::string_view metric);

// Returns the case with the highest median; nullopt if `found` is empty.
[[nodiscard]] std::optional<ProbedCase> best(const std::vector<ProbedCase>& found);

// Returns the first case whose parameter `name` has the value `number`; nullptr if no case has.
[[nodiscard]] const ProbedCase* with_number(const std::vector<ProbedCase>& found, std::string_view name,
                                            std::int64_t number);

}  // namespace memsweep::measure
