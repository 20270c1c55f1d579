#include "reporters/json_text.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "reporters/number_text.hpp"
#include "reporters/utf8.hpp"

namespace memsweep::reporters {
namespace {

void append_compact(std::string& out, const Json& json, std::string_view gap);

void append_string(std::string& out, std::string_view text)
{
    // Repaired here too: the keys of an object have not passed through json_text().
    out += nlohmann::json(repaired_utf8(text)).dump();
}

template <typename Container, typename AppendItem>
void append_joined(std::string& out, const Container& items, std::string_view separator, AppendItem append_item)
{
    bool first = true;
    for (const auto& item : items) {
        out += first ? std::string_view{} : separator;
        append_item(item);
        first = false;
    }
}

void append_compact_members(std::string& out, const Json& json, std::string_view gap)
{
    const std::string separator = fmt::format(",{}", gap);
    if (json.is_array()) {
        out += '[';
        append_joined(out, json, separator, [&](const Json& item) { append_compact(out, item, gap); });
        out += ']';
        return;
    }
    out += '{';
    append_joined(out, json.items(), separator, [&](const auto& item) {
        append_string(out, item.key());
        out += ':';
        out += gap;
        append_compact(out, item.value(), gap);
    });
    out += '}';
}

void append_compact(std::string& out, const Json& json, std::string_view gap)
{
    if (json.is_structured()) {
        append_compact_members(out, json, gap);
    } else if (json.is_string()) {
        append_string(out, json.get_ref<const std::string&>());
    } else if (json.is_number_float()) {
        out += number_text(json.get<double>());
    } else {
        out += json.dump();
    }
}

bool is_plain(const Json& json)
{
    return !json.is_structured() || json.empty();
}

// Plain values, or short lists of them such as an interval.
bool is_flat(const Json& json)
{
    return std::all_of(json.begin(), json.end(), [](const Json& item) {
        return is_plain(item) ||
               (item.is_array() && item.size() <= 2 && std::all_of(item.begin(), item.end(), is_plain));
    });
}

bool belongs_on_one_line(const Json& json, bool is_row, std::size_t line_length)
{
    constexpr std::size_t longest_line = 120;
    return json.empty() || (is_flat(json) && (is_row || json.is_array() || line_length <= longest_line));
}

void append_pretty(std::string& out, const Json& json, std::size_t depth, bool is_row)
{
    if (is_plain(json)) {
        append_compact(out, json, {});
        return;
    }
    if (is_flat(json)) {
        std::string line;
        append_compact(line, json, json.is_array() ? "" : " ");
        if (belongs_on_one_line(json, is_row, line.size())) {
            out += line;
            return;
        }
    }
    const std::string indent = fmt::format("\n{:{}}", "", depth + 1);
    out += json.is_array() ? '[' : '{';
    out += indent;
    append_joined(out, json.items(), "," + indent, [&](const auto& item) {
        if (json.is_object()) {
            append_string(out, item.key());
            out += ": ";
        }
        append_pretty(out, item.value(), depth + 1, json.is_array());
    });
    out += fmt::format("\n{:{}}", "", depth);
    out += json.is_array() ? ']' : '}';
}

}  // namespace

Json json_text(std::string_view text)
{
    return repaired_utf8(text);
}

Json json_text_or_null(std::string_view text)
{
    return text.empty() ? Json(nullptr) : json_text(text);
}

Json json_number(std::optional<double> value)
{
    return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

std::string compact(const Json& json)
{
    std::string out;
    append_compact(out, json, {});
    return out;
}

std::string pretty(const Json& json, PrettyPlace place)
{
    std::string out;
    append_pretty(out, json, place.depth, place.is_row);
    return out;
}

}  // namespace memsweep::reporters
