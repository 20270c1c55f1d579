// The two tables whose columns are names out of the scenario: its points and its phases. Each case has one row per
// quantity.
#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "core/measure/cases.hpp"
#include "reporters/document/phase_medians.hpp"
#include "reporters/document/report_tables.hpp"
#include "reporters/document/value_text.hpp"

namespace memsweep::reporters {
namespace {

struct Quantity {
    std::string_view title;
    model::Unit unit;
    std::optional<double> (*median)(const model::CaseReport&, const std::string& name);
    bool only_if_any{};  // leave its rows out of the table when it is zero everywhere
    bool has_bar{};
};

constexpr std::array<Quantity, 3> point_quantities{{
    {"working set", model::Unit::bytes,
     [](const auto& report, const auto& name) { return measure::case_median(report, name, "working_set_delta"); },
     false, true},
    {"live bytes", model::Unit::bytes,
     [](const auto& report, const auto& name) { return measure::case_median(report, name, "live_bytes"); }, false,
     true},
    {"floating", model::Unit::bytes,
     [](const auto& report, const auto& name) { return measure::case_median(report, name, "floating_bytes"); }, true,
     true},
}};

constexpr std::array<Quantity, 3> phase_quantities{{
    {"minor faults", model::Unit::one,
     [](const auto& report, const auto& name) { return phase_median(report, name, &model::Phase::minor_faults); },
     false, false},
    {"major faults", model::Unit::one,
     [](const auto& report, const auto& name) { return phase_median(report, name, &model::Phase::major_faults); }, true,
     false},
    {"time", model::Unit::seconds,
     [](const auto& report, const auto& name) { return phase_median(report, name, &model::Phase::time); }, false,
     false},
}};

bool any_nonzero(const Cases& cases, const Quantity& quantity, const std::vector<std::string>& names)
{
    return std::ranges::any_of(cases, [&](const model::CaseReport* report) {
        return std::ranges::any_of(
            names, [&](const std::string& name) { return quantity.median(*report, name).value_or(0) != 0; });
    });
}

std::vector<Cell> quantity_row(std::vector<Cell> row, const model::CaseReport& report, const Quantity& quantity,
                               const std::vector<std::string>& names)
{
    row.push_back({.text = std::string{quantity.title}});
    for (const std::string& name : names) {
        const auto median = quantity.median(report, name);
        Cell cell = value_cell(median, quantity.unit);
        cell.share = quantity.has_bar ? median : std::nullopt;
        row.push_back(std::move(cell));
    }
    return row;
}

// The shares were filled with plain values: make them parts of the largest.
void scale_shares(Table& table)
{
    double largest = 0;
    for (const auto& row : table.rows) {
        for (const Cell& cell : row) {
            largest = std::max(largest, cell.share.value_or(0));
        }
    }
    for (auto& row : table.rows) {
        for (Cell& cell : row) {
            cell.share = cell.share && largest > 0 ? std::optional{std::max(*cell.share, 0.0) / largest} : std::nullopt;
        }
    }
}

Table named_table(const Cases& cases, std::span<const Quantity> quantities, const std::vector<std::string>& names)
{
    const CaseKeys keys{cases};
    Table table{.columns = keys.columns()};
    table.columns.push_back({.title = "quantity", .is_key = true});
    for (const std::string& name : names) {
        table.columns.push_back({.title = name, .is_number = true});
    }
    std::vector<Quantity> shown;
    std::ranges::copy_if(quantities, std::back_inserter(shown), [&](const Quantity& quantity) {
        return !quantity.only_if_any || any_nonzero(cases, quantity, names);
    });
    for (const model::CaseReport* report : cases) {
        for (const Quantity& quantity : shown) {
            table.rows.push_back(quantity_row(keys.cells(*report), *report, quantity, names));
        }
    }
    scale_shares(table);
    return table;
}

template <typename Named>
Cases that_have(const Cases& cases, const std::vector<Named> model::CaseReport::*list)
{
    Cases having = cases;
    std::erase_if(having, [&](const model::CaseReport* report) { return (report->*list).empty(); });
    return having;
}

}  // namespace

std::optional<Table> points_table(const Cases& cases)
{
    const Cases having = that_have(cases, &model::CaseReport::points);
    if (having.empty()) {
        return std::nullopt;
    }
    Table table = named_table(having, point_quantities, names_in_order(having, &model::CaseReport::points));
    table.title = "Memory at the named points";
    table.note = "medians; working set: above the repetition's baseline";
    return table;
}

std::optional<Table> phases_table(const Cases& cases)
{
    const Cases having = that_have(cases, &model::CaseReport::phases);
    if (having.empty()) {
        return std::nullopt;
    }
    Table table = named_table(having, phase_quantities, names_in_order(having, &model::CaseReport::phases));
    table.title = "Page faults and time by phase";
    table.note = "medians";
    return table;
}

}  // namespace memsweep::reporters
