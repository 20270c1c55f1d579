#include "reporters/terminal/table_layout.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "reporters/text/display_text.hpp"

namespace memsweep::reporters {
namespace {

constexpr int narrowest_name = 8;
constexpr int narrowest_word = 28;  // beside which a figure fits on the narrowest terminal
constexpr int widest_title_word = 20;

using Columns = std::vector<std::size_t>;

std::vector<int> natural_widths(const Table& table, std::string_view breaks)
{
    std::vector<int> widths;
    for (std::size_t column = 0; column < table.columns.size(); ++column) {
        int width = std::min(longest_word(table.columns[column].title, breaks), widest_title_word);
        for (const auto& row : table.rows) {
            width = std::max(width, display_width(row[column].text));
        }
        widths.push_back(std::max(width, 1));
    }
    return widths;
}

int total_width(const Columns& columns, const std::vector<int>& widths)
{
    const int gaps = column_gap * static_cast<int>(std::max<std::size_t>(columns.size(), 1) - 1);
    return std::accumulate(columns.begin(), columns.end(), gaps,
                           [&](int sum, std::size_t column) { return sum + widths[column]; });
}

// Takes columns from the widest name until the columns fit or no name can give more.
void shrink_names(const Table& table, const Columns& columns, int width, std::vector<int>& widths)
{
    while (total_width(columns, widths) > width) {
        const auto rank = [&](std::size_t column) {
            const Column& about = table.columns[column];
            const int narrowest = about.is_word ? narrowest_word : narrowest_name;
            return about.is_number || widths[column] <= narrowest ? 0 : widths[column];
        };
        const std::size_t widest = *std::ranges::max_element(columns, {}, rank);
        if (rank(widest) == 0) {
            return;
        }
        --widths[widest];
    }
}

Columns select(const Table& table, bool keys)
{
    Columns columns;
    for (std::size_t column = 0; column < table.columns.size(); ++column) {
        if (table.columns[column].is_key == keys) {
            columns.push_back(column);
        }
    }
    return columns;
}

std::vector<Columns> split(const Table& table, int width, std::vector<int>& widths)
{
    const Columns keys = select(table, true);
    shrink_names(table, keys, width / 2, widths);
    std::vector<Columns> blocks{keys};
    for (const std::size_t column : select(table, false)) {
        Columns extended = blocks.back();
        extended.push_back(column);
        if (total_width(extended, widths) > width && blocks.back().size() > keys.size()) {
            extended = keys;
            extended.push_back(column);
            blocks.emplace_back();
        }
        blocks.back() = std::move(extended);
    }
    for (const Columns& block : blocks) {
        shrink_names(table, block, width, widths);
    }
    return blocks;
}

Columns all_columns(const Table& table)
{
    Columns columns(table.columns.size());
    std::iota(columns.begin(), columns.end(), std::size_t{0});
    return columns;
}

}  // namespace

TableLayout lay_out(const Table& table, int width)
{
    const Columns all = all_columns(table);
    TableLayout layout{.widths = natural_widths(table, {}), .blocks = {all}, .title_breaks = {}};
    if (total_width(all, layout.widths) <= width) {
        return layout;
    }
    layout.title_breaks = "_-";
    layout.widths = natural_widths(table, layout.title_breaks);
    std::vector<int> shrunk = layout.widths;
    shrink_names(table, all, width, shrunk);
    if (total_width(all, shrunk) <= width) {
        layout.widths = shrunk;
    } else {
        layout.blocks = split(table, width, layout.widths);
    }
    return layout;
}

}  // namespace memsweep::reporters
