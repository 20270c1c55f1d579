// Figures of the phases and points that a scenario names.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/model/report.hpp"
#include "reporters/document/case_keys.hpp"
#include "reporters/document/value_text.hpp"

namespace memsweep::reporters {

// Over the repetitions; a phase that appears several times in one counts as their sum.
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

// Of points or phases, in the order in which they first appear.
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
