#include "reporters/json/listing.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/printable.hpp"
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

Json row_json(const Listing& listing, const std::vector<model::Scalar>& row)
{
    Json object = Json::object();
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

}  // namespace

std::string listing_text(const Listing& listing)
{
    std::vector<std::size_t> widths(listing.columns.size());
    for (const auto& row : listing.rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], cell_text(row[i]).size());
        }
    }
    std::string text;
    for (const auto& row : listing.rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            line += fmt::format("{:<{}}", cell_text(row[i]), i + 1 == row.size() ? 0 : widths[i] + 2);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    return text;
}

std::string listing_json(const Listing& listing)
{
    Json array = Json::array();
    for (const auto& row : listing.rows) {
        array.push_back(row_json(listing, row));
    }
    return indented(array) + "\n";
}

std::string object_json(const Listing& listing)
{
    return indented(listing.rows.empty() ? Json::object() : row_json(listing, listing.rows.front())) + "\n";
}

}  // namespace memsweep::reporters
