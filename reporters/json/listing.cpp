#include "reporters/json/listing.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/printable.hpp"
#include "reporters/text/display_text.hpp"
#include "reporters/text/json.hpp"

namespace memsweep::reporters {
namespace {

Json cell_json(const model::Scalar& cell)
{
    const auto* text = std::get_if<std::string>(&cell);
    if (text != nullptr && text->empty()) {
        return nullptr;
    }
    return std::visit([](const auto& value) { return Json(value); }, cell);
}

Json row_json(const Listing& listing, const std::vector<model::Scalar>& row, Json object = Json::object())
{
    for (std::size_t i = 0; i < listing.columns.size(); ++i) {
        object[listing.columns[i]] = cell_json(row[i]);
    }
    return object;
}

// Names come from files: none steers the terminal.
std::string cell_text(const model::Scalar& cell)
{
    return base::printable(model::to_text(cell));
}

std::vector<std::size_t> widths_of(const Listing& listing)
{
    std::vector<std::size_t> widths;
    for (const std::string& column : listing.columns) {
        widths.push_back(column.size());
    }
    for (const auto& row : listing.rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], cell_text(row[i]).size());
        }
    }
    return widths;
}

// How many columns stand on the row's own line: all, where they fit.
std::size_t columns_on_the_line(const std::vector<std::size_t>& widths, std::size_t width)
{
    std::size_t taken = 0;
    for (std::size_t i = 0; i < widths.size(); ++i) {
        taken += widths[i] + (i == 0 ? 0 : 2);
        if (taken > width) {
            return std::max<std::size_t>(i, 1);
        }
    }
    return widths.size();
}

// Where the columns of a listing stand.
struct Placing {
    std::vector<std::size_t> widths;
    std::size_t beside{};   // so many on the row's own line
    std::size_t hanging{};  // 1: the next one is text, and is wrapped behind them
    std::size_t width{};    // columns of a line
};

// Whether a column holds words, none of which would be cut.
bool is_text_within(const Listing& listing, std::size_t column, std::size_t width)
{
    bool has_blanks = false;
    for (const auto& row : listing.rows) {
        const std::string text = cell_text(row[column]);
        has_blanks = has_blanks || text.find(' ') != std::string::npos;
        if (longest_word(text) > static_cast<int>(width)) {
            return false;
        }
    }
    return has_blanks;
}

Placing place(const Listing& listing, std::size_t width)
{
    constexpr std::size_t readable = 32;
    Placing placing{.widths = widths_of(listing), .width = width};
    placing.beside = columns_on_the_line(placing.widths, width);
    std::size_t taken = 0;
    for (std::size_t i = 0; i < placing.beside; ++i) {
        taken += placing.widths[i] + 2;
    }
    if (placing.beside < placing.widths.size() && taken + readable <= width &&
        is_text_within(listing, placing.beside, width - taken)) {
        placing.widths[placing.beside] = width - taken;
        placing.hanging = 1;
    }
    return placing;
}

std::string trimmed_line(std::string line)
{
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
}

std::string below(const std::string& cell, std::size_t width)
{
    constexpr int indent = 4;
    const bool is_one_word = cell.find(' ') == std::string::npos;  // such as a path, which is to be copied whole
    std::string text;
    for (const std::string& line :
         is_one_word ? std::vector{cell} : wrapped(cell, std::max(static_cast<int>(width) - indent, 2 * indent))) {
        text += std::string(indent, ' ') + line + "\n";
    }
    return text;
}

// The row's own line, and those that its hanging cell takes.
std::string lines_of(const std::vector<std::string>& cells, const Placing& placing)
{
    std::string line;
    for (std::size_t i = 0; i < placing.beside; ++i) {
        line += fmt::format("{:<{}}", cells[i], placing.widths[i] + 2);
    }
    if (placing.hanging == 0) {
        return trimmed_line(std::move(line));
    }
    const std::string margin(line.size(), ' ');
    std::string text;
    for (const std::string& part : wrapped(cells[placing.beside], static_cast<int>(placing.widths[placing.beside]))) {
        text += trimmed_line(std::exchange(line, margin) + part);
    }
    return text.empty() ? trimmed_line(std::move(line)) : text;
}

}  // namespace

std::string listing_text(const Listing& listing, int columns)
{
    const Placing placing = place(listing, static_cast<std::size_t>(std::max(columns, 1)));
    const std::size_t shown = placing.beside + placing.hanging;
    const std::vector<std::string> rest{listing.columns.begin() + static_cast<std::ptrdiff_t>(shown),
                                        listing.columns.end()};
    std::string text = lines_of(listing.columns, placing);
    text += rest.empty() ? std::string{} : below(fmt::format("{}", fmt::join(rest, ", ")), placing.width);
    for (const auto& row : listing.rows) {
        std::vector<std::string> cells;
        std::ranges::transform(row, std::back_inserter(cells), cell_text);
        text += lines_of(cells, placing);
        for (std::size_t i = shown; i < cells.size(); ++i) {
            text += cells[i].empty() ? std::string{} : below(cells[i], placing.width);
        }
    }
    return text;
}

std::string listing_json(const Listing& listing, std::string_view format)
{
    Json rows = Json::array();
    for (const auto& row : listing.rows) {
        rows.push_back(row_json(listing, row));
    }
    const Json document = {{"format", std::string{format}}, {"format_version", 1}, {"rows", std::move(rows)}};
    return indented(document) + "\n";
}

std::string object_json(const Listing& listing, std::string_view format)
{
    const Json head = {{"format", std::string{format}}, {"format_version", 1}};
    return indented(row_json(listing, listing.rows.front(), head)) + "\n";
}

}  // namespace memsweep::reporters
