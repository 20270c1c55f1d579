#include "reporters/document/case_keys.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/measure/cases.hpp"
#include "reporters/text/escaping.hpp"

namespace memsweep::reporters {
namespace {

bool modes_vary(const Cases& cases)
{
    std::set<std::optional<std::string>> modes;
    std::ranges::for_each(cases, [&](const auto* one) { modes.insert(measure::mode_of(*one)); });
    return modes.size() > 1;
}

struct Sorted {
    std::string title;
    Cases cases;
};

std::vector<Sorted> by_title(const Cases& cases)
{
    const auto varying = varying_params(cases, measure::mode_axis);
    std::vector<Sorted> groups;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        item_named(groups, listed(varying[i]), &Sorted::title).cases.push_back(cases[i]);
    }
    return groups;
}

std::vector<std::string> labels_of(const Cases& cases, bool by_mode)
{
    const CaseKeys keys{cases};
    std::vector<std::string> labels;
    for (const model::CaseReport* one : cases) {
        labels.push_back(by_mode ? measure::mode_of(*one).value_or(one->id) : keys.name(*one, ", "));
    }
    make_distinct(labels);
    return labels;
}

void append_parts(const Sorted& sorted, bool by_mode, std::size_t max_cases, std::vector<ChartGroup>& groups)
{
    const std::vector<std::string> labels = labels_of(sorted.cases, by_mode);
    const std::size_t parts = (labels.size() + max_cases - 1) / max_cases;
    for (std::size_t part = 0; part < parts; ++part) {
        const std::size_t first = part * max_cases;
        const std::size_t end = std::min(first + max_cases, labels.size());
        const std::string number = parts < 2 ? std::string{}
                                   : end - first == 1
                                       ? fmt::format("case {} of {}", end, labels.size())
                                       : fmt::format("cases {} to {} of {}", first + 1, end, labels.size());
        const std::string_view between = sorted.title.empty() || number.empty() ? "" : ", ";
        ChartGroup group{fmt::format("{}{}{}", sorted.title, between, number), {}};
        for (std::size_t i = first; i < end; ++i) {
            group.cases.push_back({labels[i], sorted.cases[i]});
        }
        groups.push_back(std::move(group));
    }
}

}  // namespace

Cases cases_of(const model::RunReport& report)
{
    Cases cases;
    std::ranges::transform(report.cases, std::back_inserter(cases), [](const auto& one) { return &one; });
    return cases;
}

std::vector<ScenarioCases> cases_by_scenario(const model::RunReport& report)
{
    std::vector<ScenarioCases> all;
    for (const model::CaseReport& one : report.cases) {
        item_named(all, one.scenario, &ScenarioCases::scenario).cases.push_back(&one);
    }
    return all;
}

std::string short_id(const std::string& id, std::string_view scenario)
{
    const bool has_prefix = id.size() > scenario.size() && id.starts_with(scenario) && id[scenario.size()] == '/';
    return has_prefix ? id.substr(scenario.size() + 1) : id;
}

std::vector<std::vector<std::string>> varying_params(const Cases& cases, std::string_view but_for)
{
    std::vector<std::vector<std::string>> all;
    std::map<std::string, std::size_t> counts;
    for (const model::CaseReport* one : cases) {
        all.push_back(measure::params_without(*one, std::array{but_for}));
        std::ranges::for_each(all.back(), [&](const std::string& param) { ++counts[param]; });
    }
    for (std::vector<std::string>& params : all) {
        std::erase_if(params, [&](const std::string& param) { return counts[param] == cases.size(); });
    }
    return all;
}

namespace {

// Sizes are numbers in results; an axis tells by its name that it holds some.
bool holds_sizes(std::string_view axis)
{
    return axis == "size" || axis == "bytes" || axis == "working_set" || axis.ends_with("_bytes") ||
           axis.ends_with("_size");
}

}  // namespace

std::string axis_value_text(const model::Param& param)
{
    const auto* number = std::get_if<std::int64_t>(&param.value);
    return number != nullptr && *number >= 1024 && holds_sizes(param.name)
               ? base::exact_size(static_cast<std::uint64_t>(*number))
               : model::to_text(param.value);
}

CaseKeys::CaseKeys(const Cases& cases)
{
    for (const model::CaseReport* report : cases) {
        std::ranges::for_each(report->params, [&](const model::Param& param) { add(param); });
    }
    const auto is_constant = [&](const Axis& axis) { return axis.values.size() == 1 && axis.cases == cases.size(); };
    std::ranges::copy_if(varying_, std::back_inserter(constant_), is_constant);
    std::erase_if(varying_, is_constant);
}

void CaseKeys::add(const model::Param& param)
{
    Axis& axis = item_named(varying_, param.name, &Axis::name);
    const std::string text = axis_value_text(param);
    if (std::ranges::find(axis.values, text) == axis.values.end()) {
        axis.values.push_back(text);
    }
    const bool is_number =
        std::holds_alternative<std::int64_t>(param.value) || std::holds_alternative<double>(param.value);
    axis.is_number = axis.is_number && is_number;
    ++axis.cases;
}

std::vector<Column> CaseKeys::columns() const
{
    std::vector<Column> columns;
    for (const Axis& axis : varying_) {
        columns.push_back({.title = axis.name, .is_key = true, .is_number = axis.is_number});
    }
    if (columns.empty()) {
        columns.push_back(Column::key("case"));
    }
    return columns;
}

std::vector<Cell> CaseKeys::cells(const model::CaseReport& report) const
{
    std::vector<Cell> cells;
    for (const Axis& axis : varying_) {
        const auto param = std::ranges::find(report.params, axis.name, &model::Param::name);
        cells.push_back(param == report.params.end()
                            ? Cell{}
                            : Cell{.text = axis_value_text(*param), .exact = model::to_text(param->value)});
    }
    if (cells.empty()) {
        cells.push_back({.text = short_id(report.id, report.scenario)});
    }
    return cells;
}

std::string CaseKeys::name(const model::CaseReport& report, std::string_view between) const
{
    std::vector<std::string> texts;
    for (Cell& cell : cells(report)) {
        if (!cell.text.empty()) {
            texts.push_back(std::move(cell.text));
        }
    }
    return listed(texts, between);
}

std::string CaseKeys::constants() const
{
    std::vector<std::string> texts;
    for (const Axis& axis : constant_) {
        texts.push_back(fmt::format("{}={}", axis.name, axis.values.front()));
    }
    return listed(texts);
}

std::vector<ChartGroup> chart_groups(const Cases& cases, std::size_t max_cases)
{
    const bool by_mode = modes_vary(cases);
    std::vector<ChartGroup> groups;
    for (const Sorted& sorted : by_mode ? by_title(cases) : std::vector{Sorted{{}, cases}}) {
        append_parts(sorted, by_mode, max_cases, groups);
    }
    return groups;
}

void make_distinct(std::vector<std::string>& labels)
{
    std::set<std::string> taken;
    for (std::string& label : labels) {
        const std::string plain = label.empty() ? "–" : inert_text(label);
        label = plain;
        for (std::size_t number = 2; !taken.insert(label).second; ++number) {
            label = fmt::format("{} #{}", plain, number);
        }
    }
}

}  // namespace memsweep::reporters
