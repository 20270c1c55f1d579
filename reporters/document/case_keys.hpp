// Names and groups cases. A table names a case by the axes that vary, because all other axes have the same value in
// every case. A chart groups cases that differ only in their release mode, a few at a time.
//
// Ownership  all results point into the report, which must outlive them.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/report.hpp"
#include "reporters/document/table.hpp"

namespace memsweep::reporters {

using Cases = std::vector<const model::CaseReport*>;

[[nodiscard]] Cases cases_of(const model::RunReport& report);

// Returns the item with this name. If there is none, appends a new item with this name.
template <typename Item>
[[nodiscard]] Item& item_named(std::vector<Item>& items, const std::string& name, std::string Item::*member)
{
    const auto found = std::ranges::find(items, name, member);
    if (found != items.end()) {
        return *found;
    }
    Item& added = items.emplace_back();
    added.*member = name;
    return added;
}

struct ScenarioCases {
    std::string scenario;
    Cases cases;
};

// Returns the cases of each scenario, in order of appearance.
[[nodiscard]] std::vector<ScenarioCases> cases_by_scenario(const model::RunReport& report);

// Returns the id of a case without its scenario, because the section's title names the scenario.
[[nodiscard]] std::string short_id(const std::string& id, std::string_view scenario);

// Returns the value as tables show it: sizes as "16KiB", everything else as in the case's id.
[[nodiscard]] std::string axis_value_text(const model::Param& param);

class CaseKeys {
  public:
    explicit CaseKeys(const Cases& cases);

    [[nodiscard]] std::vector<Column> columns() const;
    [[nodiscard]] std::vector<Cell> cells(const model::CaseReport& report) const;
    // Returns the texts of cells(), joined by `between`.
    [[nodiscard]] std::string name(const model::CaseReport& report, std::string_view between) const;
    [[nodiscard]] std::string constants() const;  // "allocator=glibc, threads=1": axes that do not vary

  private:
    struct Axis {
        std::string name;
        std::vector<std::string> values;  // distinct, in order of appearance
        bool is_number{true};
        std::size_t cases{};  // how many cases have the axis
    };
    void add(const model::Param& param);

    std::vector<Axis> varying_;
    std::vector<Axis> constant_;
};

// Returns, for each case, "name=value" of every parameter that differs between the cases. Leaves out the axis
// `but_for`.
[[nodiscard]] std::vector<std::vector<std::string>> varying_params(const Cases& cases, std::string_view but_for);

struct ChartCase {
    std::string label;  // the mode, or the axes that vary; unique in its group, and made by inert_text()
    const model::CaseReport* report{};
};

struct ChartGroup {
    std::string title;  // the axis values of this group only, such as "collect_every=20"; may be empty
    std::vector<ChartCase> cases;
};

// Splits the cases into groups of at most `max_cases` each, in the order of the cases.
[[nodiscard]] std::vector<ChartGroup> chart_groups(const Cases& cases, std::size_t max_cases);

// Makes labels safe to show, with inert_text() (text/escaping.hpp), and different from each other.
void make_distinct(std::vector<std::string>& labels);

}  // namespace memsweep::reporters
