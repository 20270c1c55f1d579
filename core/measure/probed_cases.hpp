// Finds the measured cases of a probe, for findings: by scenario and metric, by device and transfer.
//
// Ownership  they point into the reports that they were made from.
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

// The value of a parameter; empty or 0 if there is none of that kind.
[[nodiscard]] std::string text_of(const model::CaseReport& one, std::string_view name);
[[nodiscard]] std::int64_t number_of(const model::CaseReport& one, std::string_view name);

// A measured case of a scenario, with the median of one of its metrics, and the best sample: the shortest time or the
// highest rate. Other work only ever adds to a time, so the best sample is nearest to the memory's own.
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

// The case with the highest median; empty if there is none.
[[nodiscard]] std::optional<ProbedCase> best(const std::vector<ProbedCase>& found);

// nullptr: none has this value of a parameter.
[[nodiscard]] const ProbedCase* with_number(const std::vector<ProbedCase>& found, std::string_view name,
                                            std::int64_t number);

}  // namespace memsweep::measure
