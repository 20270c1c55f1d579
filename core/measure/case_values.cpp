#include "core/measure/case_values.hpp"

#include <algorithm>

#include "core/measure/summary.hpp"

namespace memsweep::measure {

std::vector<std::optional<double>> case_values(const model::CaseReport& report, std::string_view point,
                                               std::string_view metric)
{
    if (point.empty()) {
        const model::Metric* found = model::find_metric(report, metric);
        return found != nullptr ? found->values : std::vector<std::optional<double>>{};
    }
    std::vector<std::optional<double>> values;
    for (const model::Point& one : report.points) {
        const auto* field = one.name == point ? model::point_field(one, metric) : nullptr;
        if (field != nullptr) {
            values.push_back(*field);
        }
    }
    return values;
}

std::optional<double> case_median(const model::CaseReport& report, std::string_view point, std::string_view metric)
{
    return stat_of(case_values(report, point, metric), model::Stat::median, 0);
}

std::vector<std::string_view> point_names(const model::CaseReport& report)
{
    std::vector<std::string_view> names;
    for (const model::Point& point : report.points) {
        if (std::ranges::find(names, point.name) == names.end()) {
            names.push_back(point.name);
        }
    }
    return names;
}

}  // namespace memsweep::measure
