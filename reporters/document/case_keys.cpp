#include "reporters/document/case_keys.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace memsweep::reporters {
namespace {

const model::Param* find_param(const model::CaseReport& report, const std::string& name)
{
    const auto found = std::ranges::find(report.params, name, &model::Param::name);
    return found == report.params.end() ? nullptr : &*found;
}

// The id without its scenario, which the section is named after.
std::string short_id(const model::CaseReport& report)
{
    const std::string prefix = report.scenario + "/";
    return report.id.starts_with(prefix) ? report.id.substr(prefix.size()) : report.id;
}

}  // namespace

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
    auto axis = std::ranges::find(varying_, param.name, &Axis::name);
    if (axis == varying_.end()) {
        varying_.push_back(Axis{.name = param.name, .values = {}});
        axis = std::prev(varying_.end());
    }
    const std::string text = model::to_text(param.value);
    if (std::ranges::find(axis->values, text) == axis->values.end()) {
        axis->values.push_back(text);
    }
    const bool is_number =
        std::holds_alternative<std::int64_t>(param.value) || std::holds_alternative<double>(param.value);
    axis->is_number = axis->is_number && is_number;
    ++axis->cases;
}

std::vector<Column> CaseKeys::columns() const
{
    std::vector<Column> columns;
    for (const Axis& axis : varying_) {
        columns.push_back({.title = axis.name, .is_key = true, .is_number = axis.is_number});
    }
    if (columns.empty()) {
        columns.push_back({.title = "case", .is_key = true, .is_number = false});
    }
    return columns;
}

std::vector<Cell> CaseKeys::cells(const model::CaseReport& report) const
{
    std::vector<Cell> cells;
    for (const Axis& axis : varying_) {
        const model::Param* param = find_param(report, axis.name);
        cells.push_back({.text = param == nullptr ? std::string{} : model::to_text(param->value)});
    }
    if (cells.empty()) {
        cells.push_back({.text = short_id(report)});
    }
    return cells;
}

std::string CaseKeys::constants() const
{
    std::string text;
    for (const Axis& axis : constant_) {
        text += fmt::format("{}{}={}", text.empty() ? "" : ", ", axis.name, axis.values.front());
    }
    return text;
}

}  // namespace memsweep::reporters
