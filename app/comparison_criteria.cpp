#include "app/comparison_criteria.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "app/commands.hpp"
#include "app/comparing.hpp"
#include "core/base/suggest.hpp"
#include "core/measure/case_values.hpp"
#include "core/measure/threshold_text.hpp"

namespace memsweep::app {
namespace {

using Units = std::map<std::string, model::Unit, std::less<>>;

void add_points(const model::CaseReport& report, Units& units)
{
    for (const std::string_view point : measure::point_names(report)) {
        for (const model::MetricInfo& metric : model::point_catalog()) {
            units.emplace(fmt::format("{}.{}", point, metric.name), metric.unit);
        }
    }
}

Units known_metrics(const std::vector<model::RunReport>& results)
{
    Units units;
    for (const model::RunReport& result : results) {
        for (const model::CaseReport& one : result.cases) {
            for (const model::Metric& metric : one.metrics) {
                units.emplace(metric.name, metric.unit);
            }
            add_points(one, units);
        }
    }
    for (const model::MetricInfo& metric : model::metric_catalog()) {
        units.emplace(metric.name, metric.unit);
    }
    return units;
}

void print_unknown(const std::string& name, const Units& units, std::string_view flag)
{
    std::vector<std::string_view> known;
    for (const auto& [metric, unit] : units) {
        known.push_back(metric);
    }
    const std::string_view near = base::nearest(name, known);
    print_error(
        {base::ErrorCode::invalid_input,
         fmt::format("unknown metric \"{}\"; {}", name,
                     near.empty() ? "memsweep list metrics names them" : fmt::format("did you mean \"{}\"?", near)),
         std::string{flag}});
}

bool add_threshold(const std::string& name, const std::string& text, const Units& units, measure::Criteria& criteria)
{
    const auto unit = units.find(name);
    if (unit == units.end()) {
        print_unknown(name, units, "--threshold");
        return false;
    }
    const auto threshold = measure::parse_threshold(text, unit->second);
    if (!threshold) {
        print_error(
            {base::ErrorCode::invalid_input, fmt::format("{}: {}", name, threshold.error().message), "--threshold"});
        return false;
    }
    criteria.thresholds.insert_or_assign(name, *threshold);
    return true;
}

}  // namespace

std::optional<measure::Criteria> comparison_criteria(const CompareCommand& command,
                                                     const std::vector<model::RunReport>& results)
{
    auto criteria = gate_criteria(command.gate);
    if (!criteria) {
        return std::nullopt;
    }
    const Units units = known_metrics(results);
    bool valid = true;
    for (const auto& [name, text] : command.thresholds) {
        valid = add_threshold(name, text, units, *criteria) && valid;
    }
    const bool names_a_point =
        std::ranges::any_of(command.metrics, [](const std::string& name) { return name.find('.') != name.npos; });
    criteria->points = command.points || names_a_point;
    if (!command.metrics.empty()) {
        criteria->only = {command.metrics.begin(), command.metrics.end()};
    }
    for (const std::string& name : command.metrics) {
        if (!units.contains(name)) {
            print_unknown(name, units, "--metric");
            valid = false;
        }
    }
    return valid ? criteria : std::nullopt;
}

}  // namespace memsweep::app
