#include "reporters/terminal/terminal_table.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "reporters/text/display_text.hpp"
#include "reporters/text/escaping.hpp"

namespace memsweep::reporters {
namespace {

constexpr int narrowest_name = 12;
constexpr int narrowest_word = 28;  // beside which a figure fits on the narrowest terminal
constexpr int widest_title_word = 20;
constexpr int column_gap = 2;

using Columns = std::vector<std::size_t>;

// Where a table's columns go on lines of a given width.
struct TableLayout {
    std::vector<int> widths;        // one for each column
    std::vector<Columns> blocks;    // columns side by side, one list per part of the table
    std::string_view title_breaks;  // characters behind which titles may be broken
    std::vector<Cut> cuts{};        // of what is too wide, one for each column
};

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

std::set<std::string> names_in(const Table& table, std::size_t column)
{
    std::set<std::string> names;
    for (const auto& row : table.rows) {
        names.insert(row[column].text);
    }
    return names;
}

std::size_t distinct(const std::set<std::string>& names, int width, Cut cut)
{
    std::set<std::string> shortened;
    for (const std::string& name : names) {
        shortened.insert(elided(name, width, cut));
    }
    return shortened.size();
}

bool are_distinct(const std::set<std::string>& names, int width)
{
    return distinct(names, width, Cut::between_parts) == names.size();
}

// Between parts, unless names that differ would then look the same and otherwise would not.
std::vector<Cut> choose_cuts(const Table& table, const std::vector<int>& widths)
{
    std::vector<Cut> cuts;
    for (std::size_t column = 0; column < table.columns.size(); ++column) {
        const std::set<std::string> names = names_in(table, column);
        const std::size_t apart = distinct(names, widths[column], Cut::between_parts);
        const bool is_enough = apart == names.size() || apart >= distinct(names, widths[column], Cut::anywhere);
        cuts.push_back(is_enough ? Cut::between_parts : Cut::anywhere);
    }
    return cuts;
}

// The width at which names that differ still differ, as far as `widest` allows.
int distinct_width(const Table& table, std::size_t column, int widest)
{
    const std::set<std::string> names = names_in(table, column);
    int enough = widest;
    for (int below = narrowest_name; below < enough;) {
        const int middle = below + (enough - below) / 2;
        if (are_distinct(names, middle)) {
            enough = middle;
        } else {
            below = middle + 1;
        }
    }
    return enough;
}

// Bytes that all of the names begin with, up to the end of a part of a case's id.
std::size_t shared_front(const std::set<std::string>& names)
{
    // In a sorted set the first and the last differ the earliest.
    const auto [one, other] = std::ranges::mismatch(*names.begin(), *names.rbegin());
    const auto shared = static_cast<std::size_t>(one - names.begin()->begin());
    const std::size_t end = names.begin()->substr(0, shared).find_last_of("/ ");
    return end == std::string::npos ? 0 : end + 1;
}

// Names that would be cut lose what all of them begin and end with, part by part.
void drop_shared(Table& table, std::size_t column, int width)
{
    const std::set<std::string> names = names_in(table, column);
    if (names.size() < 2 ||
        std::ranges::all_of(names, [&](const std::string& name) { return display_width(name) <= width; })) {
        return;
    }
    std::set<std::string> reversed;
    for (const std::string& name : names) {
        reversed.emplace(name.rbegin(), name.rend());
    }
    const std::size_t front = shared_front(names);
    const std::size_t back = shared_front(reversed);
    for (auto& row : table.rows) {
        std::string& text = row[column].text;
        if (front + back < text.size()) {
            text = fmt::format("{}{}{}", front == 0 ? "" : "…", text.substr(front, text.size() - front - back),
                               back == 0 ? "" : "…");
        }
    }
}

// Takes columns from the widest name until the columns fit or no name can give more.
void shrink_names(const Table& table, const Columns& columns, int width, std::vector<int>& widths)
{
    if (total_width(columns, widths) <= width) {
        return;
    }
    std::vector<int> narrowest(table.columns.size());
    for (const std::size_t column : columns) {
        const Column& about = table.columns[column];
        const int least = about.is_word ? narrowest_word : narrowest_name;
        narrowest[column] =
            about.is_key && !about.is_number
                ? std::max(least, distinct_width(table, column, std::max(width / 2 - 4 * column_gap, least)))
                : least;
    }
    while (total_width(columns, widths) > width) {
        const auto rank = [&](std::size_t column) {
            const Column& about = table.columns[column];
            return about.is_number || widths[column] <= narrowest[column] ? 0 : widths[column];
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
    Columns others = select(table, false);
    std::ranges::stable_partition(others, [&](std::size_t column) { return table.columns[column].is_verdict; });
    for (const std::size_t column : others) {
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

// Expects cells and titles that inert_text() made.
TableLayout lay_out(const Table& table, int width)
{
    Columns all(table.columns.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
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

// A copy that a terminal can show: no control characters, and a mark where there is no value.
Table showable(Table table)
{
    table.title = inert_text(table.title);
    for (Column& column : table.columns) {
        column.title = inert_text(column.title);
    }
    for (auto& row : table.rows) {
        for (Cell& cell : row) {
            cell.text = cell.text.empty() ? "-" : inert_text(cell.text);
        }
    }
    return table;
}

// Takes out the keys that are the same in every row and would be cut, and says each once, in full.
std::string taken_out(Table& table, const TableLayout& layout, const TerminalStyle& style)
{
    std::string out;
    for (std::size_t column = table.columns.size(); column-- > 0;) {
        const Column about = table.columns[column];
        const std::set<std::string> names = names_in(table, column);
        if (!about.is_key || names.size() != 1 || display_width(*names.begin()) <= layout.widths[column]) {
            continue;
        }
        out.insert(0, paragraph(*names.begin(), about.title + ": ", style, Tone::muted));
        const auto at = static_cast<std::ptrdiff_t>(column);
        table.columns.erase(table.columns.begin() + at);
        for (auto& row : table.rows) {
            row.erase(row.begin() + at);
        }
    }
    return out;
}

// All key columns as one, for tables whose keys leave no room for figures.
Table with_one_key(const Table& table)
{
    Table merged{.title = table.title, .note = table.note, .columns = {{.title = "case", .is_key = true}}};
    std::ranges::copy_if(table.columns, std::back_inserter(merged.columns),
                         [](const Column& column) { return !column.is_key; });
    for (const auto& row : table.rows) {
        std::vector<Cell> cells(1);
        for (std::size_t column = 0; column < row.size(); ++column) {
            if (table.columns[column].is_key) {
                cells.front().text += (cells.front().text.empty() ? "" : " ") + row[column].text;
            } else {
                cells.push_back(row[column]);
            }
        }
        merged.rows.push_back(std::move(cells));
    }
    return merged;
}

std::string aligned(const std::string& text, const Column& column, int width, Cut cut = Cut::between_parts)
{
    return column.is_number ? padded_left(text, width) : padded_right(elided(text, width, cut), width);
}

std::string without_blanks_behind(std::string line)
{
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
}

// Titles stand on the line above the figures, the longer ones begin higher up.
std::string title_lines(const Table& table, const Columns& columns, const TableLayout& layout,
                        const TerminalStyle& style)
{
    std::vector<std::vector<std::string>> titles;
    std::size_t height = 0;
    for (const std::size_t column : columns) {
        titles.push_back(wrapped(elided(table.columns[column].title, 60), layout.widths[column], layout.title_breaks));
        height = std::max(height, titles.back().size());
    }
    std::string out;
    for (std::size_t line = 0; line < height; ++line) {
        std::string text;
        for (std::size_t i = 0; i < columns.size(); ++i) {
            const std::size_t above = height - titles[i].size();
            text += line < above
                        ? std::string(static_cast<std::size_t>(layout.widths[columns[i]]), ' ')
                        : aligned(titles[i][line - above], table.columns[columns[i]], layout.widths[columns[i]]);
            text += std::string(column_gap, ' ');
        }
        out += painted(without_blanks_behind(std::move(text)), Tone::muted, style) + "\n";
    }
    return out;
}

// How many leading columns say the same as the row above; the last key is always shown.
std::size_t repeated_keys(const Table& table, std::size_t row)
{
    const auto keys = static_cast<std::size_t>(std::ranges::count(table.columns, true, &Column::is_key));
    std::size_t same = 0;
    while (row > 0 && same + 1 < keys && table.rows[row][same].text == table.rows[row - 1][same].text) {
        ++same;
    }
    return same;
}

std::string row_line(const Table& table, std::size_t row, const Columns& columns, const TableLayout& layout,
                     const TerminalStyle& style)
{
    const std::size_t repeated = repeated_keys(table, row);
    std::string line;
    for (const std::size_t column : columns) {
        const Cell& cell = table.rows[row][column];
        const std::string text = aligned(column < repeated ? "" : cell.text, table.columns[column],
                                         layout.widths[column], layout.cuts[column]);
        line += painted(text, cell.tone, style) + (column == columns.back() ? "" : std::string(column_gap, ' '));
    }
    return line;
}

// Behind the title where there is room, else below it.
std::string note_text(const Table& table, int width, const TerminalStyle& style)
{
    const std::string beside = fmt::format(" ({})", inert_text(table.note));
    const bool fits = display_width(table.title) + display_width(beside) <= width;
    return fits ? painted(beside, Tone::muted, style) + "\n" : "\n" + paragraph(table.note, "", style, Tone::muted);
}

std::string block_text(const Table& table, const Columns& columns, const TableLayout& layout,
                       const TerminalStyle& style)
{
    std::string out = title_lines(table, columns, layout, style);
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
        out += without_blanks_behind(row_line(table, row, columns, layout, style)) + "\n";
    }
    return out;
}

}  // namespace

std::string table_text(const Table& original, const TerminalStyle& style)
{
    const int width = usable_width(style);
    Table table = showable(original);
    TableLayout layout = lay_out(table, width);
    const std::string same_in_all = taken_out(table, layout, style);
    layout = lay_out(table, width);
    if (std::ranges::any_of(layout.blocks,
                            [&](const Columns& block) { return total_width(block, layout.widths) > width; })) {
        table = with_one_key(table);
        layout = lay_out(table, width);
    }
    for (std::size_t column = 0; column < table.columns.size(); ++column) {
        if (table.columns[column].is_key) {
            drop_shared(table, column, layout.widths[column]);
        }
    }
    layout = lay_out(table, width);
    layout.cuts = choose_cuts(table, layout.widths);
    std::string out = heading(elided(table.title, width), style);
    out += table.note.empty() ? "\n" : note_text(table, width, style);
    out += same_in_all;
    for (const Columns& block : layout.blocks) {
        out += (&block == &layout.blocks.front() ? "" : "\n") + block_text(table, block, layout, style);
    }
    return out;
}

}  // namespace memsweep::reporters
