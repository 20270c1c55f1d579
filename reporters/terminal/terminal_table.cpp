#include "reporters/terminal/terminal_table.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "reporters/terminal/table_layout.hpp"
#include "reporters/terminal/terminal_ink.hpp"
#include "reporters/text/display_text.hpp"
#include "reporters/text/utf8.hpp"

namespace memsweep::reporters {
namespace {

using ColumnNumbers = std::vector<std::size_t>;

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

std::string aligned(const std::string& text, const Column& column, int width)
{
    return column.is_number ? padded_left(text, width) : padded_right(elided(text, width), width);
}

void append_line(std::string& out, std::string line)
{
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
}

// Titles stand on the line above the figures, the longer ones begin higher up.
std::string title_lines(const Table& table, const ColumnNumbers& columns, const TableLayout& layout,
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
        text.erase(text.find_last_not_of(' ') + 1);
        out += painted(text, Tone::muted, style) + "\n";
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

std::string row_line(const Table& table, std::size_t row, const ColumnNumbers& columns, const TableLayout& layout,
                     const TerminalStyle& style)
{
    const std::size_t repeated = repeated_keys(table, row);
    std::string line;
    for (const std::size_t column : columns) {
        const Cell& cell = table.rows[row][column];
        const std::string text =
            aligned(column < repeated ? "" : cell.text, table.columns[column], layout.widths[column]);
        line += painted(text, cell.tone, style) + (column == columns.back() ? "" : std::string(column_gap, ' '));
    }
    return line;
}

int block_width(const ColumnNumbers& columns, const TableLayout& layout)
{
    int width = -column_gap;
    for (const std::size_t column : columns) {
        width += layout.widths[column] + column_gap;
    }
    return width;
}

// Behind the title where there is room, else below it.
std::string note_text(const Table& table, int width, const TerminalStyle& style)
{
    const std::string beside = fmt::format(" ({})", inert_text(table.note));
    const bool fits = display_width(table.title) + display_width(beside) <= width;
    return fits ? painted(beside, Tone::muted, style) + "\n" : "\n" + paragraph(table.note, "", style, Tone::muted);
}

std::string block_text(const Table& table, const ColumnNumbers& columns, const TableLayout& layout,
                       const TerminalStyle& style)
{
    std::string out = title_lines(table, columns, layout, style);
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
        append_line(out, row_line(table, row, columns, layout, style));
    }
    return out;
}

}  // namespace

std::string table_text(const Table& original, const TerminalStyle& style)
{
    const int width = usable_width(style);
    Table table = showable(original);
    TableLayout layout = lay_out(table, width);
    if (std::ranges::any_of(layout.blocks,
                            [&](const ColumnNumbers& block) { return block_width(block, layout) > width; })) {
        table = with_one_key(table);
        layout = lay_out(table, width);
    }
    std::string out = heading(elided(table.title, width), style);
    out += table.note.empty() ? "\n" : note_text(table, width, style);
    for (const ColumnNumbers& block : layout.blocks) {
        out += (&block == &layout.blocks.front() ? "" : "\n") + block_text(table, block, layout, style);
    }
    return out;
}

}  // namespace memsweep::reporters
