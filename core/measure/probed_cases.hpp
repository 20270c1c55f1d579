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

// The value of a parameter as text or as a number. Empty or 0: the case has no such parameter of this type.
[[nodiscard]] std::string text_of(const model::CaseReport& one, std::string_view name);
[[nodiscard]] std::int64_t number_of(const model::CaseReport& one, std::string_view name);

// A measured case of a scenario, with the median and the best sample of one metric. The best sample is the shortest
// time or the highest bandwidth. Other work on the machine only makes times longer, so the best sample is nearest to
// what the memory can do.
struct ProbedCase {
    const model::CaseReport* report{};
    double median{};
    double best{};
};

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

// The case with the highest median; nullopt if `found` is empty.
[[nodiscard]] std::optional<ProbedCase> best(const std::vector<ProbedCase>& found);

// The first case whose parameter `name` has this value; nullptr: none.
[[nodiscard]] const ProbedCase* with_number(const std::vector<ProbedCase>& found, std::string_view name,
                                            std::int64_t number);

}  // namespace memsweep::measure
