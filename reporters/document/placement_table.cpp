#include "reporters/document/placement_table.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "core/measure/format.hpp"
#include "core/measure/placement_contrast.hpp"
#include "reporters/document/value_text.hpp"

namespace memsweep::reporters {
namespace {

using measure::PlacementContrast;

Cell ratio_cell(const std::optional<measure::Shift>& ratio, const std::string& reason)
{
    if (!ratio) {
        return {.exact = reason};
    }
    constexpr double same = 0.05;  // the default threshold for times
    std::string exact = fmt::format("{}", ratio->estimate);
    if (ratio->interval) {
        const auto& [low, high] = *ratio->interval;
        exact += fmt::format(", 95 % interval {} to {}", measure::format_factor(low), measure::format_factor(high));
    }
    const bool slower = ratio->interval && (*ratio->interval)[0] > 1 + same;
    return {.text = measure::format_factor(ratio->estimate) + "x",
            .exact = std::move(exact),
            .tone = slower ? Tone::caution : Tone::plain};
}

Cell per_fault_cell(const PlacementContrast& one)
{
    Cell cell = value_cell(one.seconds_per_fault, model::Unit::seconds);
    cell.exact = one.seconds_per_fault ? cell.exact : one.reason;
    return cell;
}

}  // namespace

std::optional<Table> placement_table(const Cases& cases)
{
    const std::vector<PlacementContrast> contrasts = measure::placement_contrasts(cases);
    if (contrasts.empty()) {
        return std::nullopt;
    }
    Cases placed;
    std::ranges::transform(contrasts, std::back_inserter(placed), &PlacementContrast::placed);
    const CaseKeys keys{placed};
    Table table{.title = "Alone and in the sweep",
                .note =
                    "per call or repetition; time per fault: difference of the times over difference of the faults, "
                    "where both differ the same way",
                .columns = keys.columns()};
    for (const char* title : {"alone", "in sweep", "ratio", "faults alone", "faults in sweep", "per fault"}) {
        table.columns.push_back({.title = title, .is_number = true});
    }
    for (const PlacementContrast& one : contrasts) {
        std::vector<Cell> row = keys.cells(*one.placed);
        row.push_back(value_cell(one.time_alone.seconds, model::Unit::seconds));
        row.push_back(value_cell(one.time_placed.seconds, model::Unit::seconds));
        row.push_back(ratio_cell(one.ratio, one.reason));
        row.push_back(value_cell(one.time_alone.faults, model::Unit::one));
        row.push_back(value_cell(one.time_placed.faults, model::Unit::one));
        row.push_back(per_fault_cell(one));
        table.rows.push_back(std::move(row));
    }
    return table;
}

}  // namespace memsweep::reporters
