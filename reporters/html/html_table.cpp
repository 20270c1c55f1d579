#include "reporters/html/html_table.hpp"

#include <array>

#include <fmt/format.h>

#include "reporters/text/escaping.hpp"
#include "reporters/text/number_text.hpp"

namespace memsweep::reporters {
namespace {

// Escaped; a long name may be broken behind what joins its parts, before a browser would break it anywhere.
std::string breakable(std::string_view text)
{
    constexpr std::size_t long_name = 20;
    constexpr std::string_view joints = "_/=.:";
    const auto is_joint = [&](char c) { return joints.find(c) != std::string_view::npos; };
    std::string out;
    std::size_t begin = 0;
    for (std::size_t at = 0; text.size() > long_name && at + 1 < text.size(); ++at) {
        if (is_joint(text[at]) && !is_joint(text[at + 1])) {
            out += escaped(text.substr(begin, at + 1 - begin)) + "<wbr>";
            begin = at + 1;
        }
    }
    return out + escaped(text.substr(begin));
}

std::string attribute(std::string_view name, std::string_view value)
{
    return value.empty() ? std::string{} : fmt::format(" {}=\"{}\"", name, escaped(value));
}

std::string classes(const Column& column, const Cell& cell)
{
    constexpr std::size_t long_text = 24;
    std::string text = column.is_number ? "num" : cell.text.size() > long_text ? "wide" : "";
    for (const std::string_view part : {tone_class(cell.tone), std::string_view{cell.share ? "bar" : ""}}) {
        text += part.empty() ? "" : fmt::format("{}{}", text.empty() ? "" : " ", part);
    }
    return attribute("class", text);
}

std::string cell_html(const Column& column, const Cell& cell)
{
    const std::string title = cell.exact == cell.text ? std::string{} : attribute("title", cell.exact);
    const std::string share = cell.share ? fmt::format(" style=\"--share:{:.3f}\"", *cell.share) : std::string{};
    const std::string text = cell.text.empty() ? "<span class=\"muted\">–</span>" : escaped(cell.text);
    return fmt::format("<td{}{}{}>{}</td>", classes(column, cell), share, title, text);
}

bool same_keys(const Table& table, std::size_t row, std::size_t other, std::size_t last_column)
{
    for (std::size_t column = 0; column <= last_column; ++column) {
        if (table.rows[row][column].text != table.rows[other][column].text) {
            return false;
        }
    }
    return true;
}

// Rows that a key cell spans; 0 when a cell above covers it. The last key names its row alone.
std::size_t span_of(const Table& table, std::size_t row, std::size_t column)
{
    const bool is_last_key = column + 1 == table.columns.size() || !table.columns[column + 1].is_key;
    if (is_last_key) {
        return 1;
    }
    if (row > 0 && same_keys(table, row, row - 1, column)) {
        return 0;
    }
    std::size_t span = 1;
    while (row + span < table.rows.size() && same_keys(table, row, row + span, column)) {
        ++span;
    }
    return span;
}

std::string key_html(const Table& table, std::size_t row, std::size_t column)
{
    const std::size_t span = span_of(table, row, column);
    if (span == 0) {
        return {};
    }
    const Cell& cell = table.rows[row][column];
    const std::string spans = span > 1 ? fmt::format(" scope=\"rowgroup\" rowspan=\"{}\"", span) : " scope=\"row\"";
    return fmt::format("<th{}{}>{}</th>", spans, classes(table.columns[column], cell),
                       cell.text.empty() ? "–" : breakable(cell.text));
}

std::string row_html(const Table& table, std::size_t row)
{
    std::string out = "<tr>";
    for (std::size_t column = 0; column < table.columns.size(); ++column) {
        const Column& about = table.columns[column];
        out += about.is_key ? key_html(table, row, column) : cell_html(about, table.rows[row][column]);
    }
    return out + "</tr>\n";
}

std::string head_html(const Table& table)
{
    std::string out = "<thead><tr>";
    for (const Column& column : table.columns) {
        out += fmt::format("<th scope=\"col\"{}>{}</th>", column.is_number ? " class=\"num\"" : "",
                           breakable(column.title));
    }
    return out + "</tr></thead>\n";
}

}  // namespace

std::string_view tone_class(Tone tone)
{
    constexpr std::array<std::string_view, 5> classes{"", "good", "caution", "bad", "muted"};  // in the order of Tone
    return classes[static_cast<std::size_t>(tone)];
}

std::string table_html(const Table& table, const std::string& id, TableLook look)
{
    const std::string note = table.note.empty() ? std::string{} : fmt::format("<span>{}</span>", escaped(table.note));
    std::string out =
        fmt::format("<div class=\"scroll{}\" role=\"group\" aria-labelledby=\"{}\" tabindex=\"0\">\n<table{}>\n",
                    look.is_tall ? " tall" : "", id, look.is_sortable ? " class=\"sortable\"" : "");
    out += fmt::format("<caption id=\"{}\"><b>{}</b>{}</caption>\n", id, escaped(table.title), note);
    out += head_html(table) + "<tbody>\n";
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
        out += row_html(table, row);
    }
    return out + "</tbody>\n</table>\n</div>\n";
}

}  // namespace memsweep::reporters
