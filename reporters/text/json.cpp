#include "reporters/text/json.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "reporters/text/escaping.hpp"
#include "reporters/text/number_text.hpp"

namespace memsweep::reporters {
namespace {

// DEL and U+0080 to U+009F, which a document may hold as they are, are escaped too: terminals obey them. So is the
// second # of two, with which a command in the log of a CI service could begin (without_commands).
void append_string(std::string& out, std::string_view text)
{
    constexpr char first_of_controls = '\xc2';
    const std::string repaired = repaired_utf8(text);
    out += '"';
    for (std::size_t i = 0; i < repaired.size(); ++i) {
        const char c = repaired[i];
        constexpr std::string_view named = "\b\t\n\f\r\"\\";
        constexpr std::string_view letters = "btnfr\"\\";
        if (const std::size_t at = named.find(c); at != std::string_view::npos) {
            out += '\\';
            out += letters[at];
        } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f || (c == '#' && out.ends_with('#'))) {
            out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else if (c == first_of_controls && static_cast<unsigned char>(repaired[i + 1]) < 0xa0) {
            out += fmt::format("\\u{:04x}", static_cast<unsigned char>(repaired[++i]));
        } else {
            out += c;
        }
    }
    out += '"';
}

void append_plain(std::string& out, const Json& json)
{
    switch (json.kind()) {
    case Json::Kind::null:
        out += "null";
        return;
    case Json::Kind::boolean:
        out += *json.boolean() ? "true" : "false";
        return;
    case Json::Kind::integer:
        out += fmt::format("{}", *json.integer());
        return;
    case Json::Kind::unsigned_integer:
        out += fmt::format("{}", *json.unsigned_integer());
        return;
    case Json::Kind::real:
        out += number_text(*json.real());
        return;
    case Json::Kind::text:
        append_string(out, *json.text());
        return;
    case Json::Kind::array:
        out += "[]";
        return;
    case Json::Kind::object:
        out += "{}";
        return;
    }
}

// Where line breaks and blanks go.
struct Layout {
    std::string_view open;       // behind an opening bracket
    std::string_view separator;  // between two items
    std::string_view close;      // before a closing bracket
    std::string_view after_key;
};

template <typename AppendValue>
void append_items(std::string& out, const Json& json, const Layout& layout, AppendValue append_value)
{
    bool first = true;
    const auto begin_item = [&] {
        out += first ? layout.open : layout.separator;
        first = false;
    };
    out += json.is_array() ? '[' : '{';
    for (const Json& element : json.elements()) {
        begin_item();
        append_value(element);
    }
    for (const auto& [key, value] : json.members()) {
        begin_item();
        append_string(out, key);
        out += layout.after_key;
        append_value(value);
    }
    out += layout.close;
    out += json.is_array() ? ']' : '}';
}

bool is_plain(const Json& json)
{
    return json.empty();
}

void append_compact(std::string& out, const Json& json, bool spaced)
{
    if (is_plain(json)) {
        append_plain(out, json);
        return;
    }
    const Layout layout{{}, spaced ? ", " : ",", {}, spaced ? ": " : ":"};
    append_items(out, json, layout, [&](const Json& value) { append_compact(out, value, spaced); });
}

// Plain values, or short lists of them such as an interval.
bool is_flat(const Json& json)
{
    const auto is_short = [](const Json& item) {
        return is_plain(item) ||
               (item.is_array() && item.size() <= 2 && std::ranges::all_of(item.elements(), is_plain));
    };
    return std::ranges::all_of(json.elements(), is_short) &&
           std::ranges::all_of(json.members(), is_short, &JsonMember::value);
}

void append_pretty(std::string& out, const Json& json, std::size_t depth, bool is_row)
{
    if (is_plain(json)) {
        append_plain(out, json);
        return;
    }
    if (is_flat(json)) {
        constexpr std::size_t longest_line = 120;
        std::string line;
        append_compact(line, json, json.is_object());
        if (is_row || json.is_array() || line.size() <= longest_line) {
            out += line;
            return;
        }
    }
    const std::string indent = fmt::format("\n{:{}}", "", depth + 1);
    const std::string separator = "," + indent;
    const std::string outdent = fmt::format("\n{:{}}", "", depth);
    append_items(out, json, {indent, separator, outdent, ": "},
                 [&](const Json& value) { append_pretty(out, value, depth + 1, json.is_array()); });
}

// "1.0", "0.25", "1e+15": from 1e15 on with an exponent.
std::string real_text(double value)
{
    std::string text = number_text(value);
    if (text.find_first_of(".e") != std::string::npos) {
        return text;
    }
    if (std::fabs(value) < 1e15) {
        return text + ".0";
    }
    const std::size_t first = text.front() == '-' ? 1 : 0;
    const std::size_t exponent = text.size() - first - 1;
    text.erase(text.find_last_not_of('0') + 1);
    if (text.size() > first + 1) {
        text.insert(first + 1, ".");
    }
    return fmt::format("{}e+{:02}", text, exponent);
}

void append_indented(std::string& out, const Json& json, std::size_t depth)
{
    if (const double* real = json.real()) {
        out += real_text(*real);
        return;
    }
    if (is_plain(json)) {
        append_plain(out, json);
        return;
    }
    const std::string indent = fmt::format("\n{:{}}", "", 2 * (depth + 1));
    const std::string separator = "," + indent;
    const std::string outdent = fmt::format("\n{:{}}", "", 2 * depth);
    append_items(out, json, {indent, separator, outdent, ": "},
                 [&](const Json& value) { append_indented(out, value, depth + 1); });
}

}  // namespace

Json::Json() = default;
Json::Json(std::nullptr_t) {}
Json::Json(bool value) : value_{value} {}
Json::Json(const char* text) : value_{std::string{text}} {}
Json::Json(std::string_view text) : value_{std::string{text}} {}
Json::Json(std::string text) : value_{std::move(text)} {}

Json::Json(double value)
{
    if (std::isfinite(value)) {
        value_ = value;
    }
}

Json::Json(std::initializer_list<Item> items)
{
    if (items.size() == 0) {
        return;
    }
    const bool is_object = std::ranges::all_of(items, [](const Item& item) {
        const std::vector<Json>& pair = std::as_const(item.value_).elements();
        return pair.size() == 2 && pair.front().text() != nullptr;
    });
    if (!is_object) {
        *this = array(items);
        return;
    }
    Members members;
    members.reserve(items.size());
    for (const Item& item : items) {
        std::vector<Json>& pair = item.value_.elements();
        members.push_back({std::move(std::get<std::string>(pair.front().value_)), std::move(pair.back())});
    }
    value_ = std::move(members);
}

Json Json::array(std::initializer_list<Item> items)
{
    Elements elements;
    elements.reserve(items.size());
    for (const Item& item : items) {
        elements.push_back(std::move(item.value_));
    }
    Json json;
    json.value_ = std::move(elements);
    return json;
}

Json Json::object()
{
    Json json;
    json.value_ = Members{};
    return json;
}

std::string_view Json::kind_name() const
{
    static constexpr std::array<std::string_view, 8> names{"null",   "boolean", "number", "number",
                                                           "number", "string",  "array",  "object"};
    return names[value_.index()];
}

std::optional<double> Json::number() const
{
    if (const auto* whole = integer()) {
        return static_cast<double>(*whole);
    }
    if (const auto* whole = unsigned_integer()) {
        return static_cast<double>(*whole);
    }
    const double* value = real();
    return value == nullptr ? std::nullopt : std::optional{*value};
}

const std::vector<Json>& Json::elements() const
{
    static const Elements none;
    const auto* elements = std::get_if<Elements>(&value_);
    return elements == nullptr ? none : *elements;
}

std::vector<Json>& Json::elements()
{
    if (is_null()) {
        value_ = Elements{};
    }
    return std::get<Elements>(value_);
}

const std::vector<JsonMember>& Json::members() const
{
    static const Members none;
    const auto* members = std::get_if<Members>(&value_);
    return members == nullptr ? none : *members;
}

std::vector<JsonMember>& Json::members()
{
    if (is_null()) {
        value_ = Members{};
    }
    return std::get<Members>(value_);
}

std::size_t Json::size() const
{
    return elements().size() + members().size();
}

const Json* Json::find(std::string_view key) const
{
    const auto found = std::ranges::find(members(), key, &JsonMember::key);
    return found == members().end() ? nullptr : &found->value;
}

Json* Json::find(std::string_view key)
{
    return const_cast<Json*>(std::as_const(*this).find(key));
}

Json& Json::operator[](std::string_view key)
{
    if (Json* found = find(key)) {
        return *found;
    }
    return members().emplace_back(JsonMember{std::string{key}, {}}).value;
}

void Json::push_back(Json value)
{
    elements().push_back(std::move(value));
}

void Json::update(const Json& object)
{
    for (const auto& [key, value] : object.members()) {
        (*this)[key] = value;
    }
}

Json json_text_or_null(std::string_view text)
{
    return text.empty() ? Json() : Json(text);
}

std::string compact(const Json& json)
{
    std::string out;
    append_compact(out, json, false);
    return out;
}

std::string pretty(const Json& json, PrettyPlace place)
{
    std::string out;
    append_pretty(out, json, place.depth, place.is_row);
    return out;
}

std::string indented(const Json& json)
{
    std::string out;
    append_indented(out, json, 0);
    return out;
}

void JsonStream::begin_item()
{
    Level& level = levels_.back();
    sink_->print("{}\n{:{}}", level.is_empty ? "" : ",", "", levels_.size());
    level.is_empty = false;
}

void JsonStream::open(char bracket, bool is_list)
{
    if (!levels_.empty() && levels_.back().is_list) {
        begin_item();
    }
    sink_->print("{}", bracket);
    levels_.push_back({.is_list = is_list});
}

void JsonStream::close()
{
    const Level level = levels_.back();
    levels_.pop_back();
    if (!level.is_empty) {
        sink_->print("\n{:{}}", "", levels_.size());
    }
    sink_->print("{}", level.is_list ? ']' : '}');
}

void JsonStream::key(std::string_view key)
{
    begin_item();
    sink_->print("{}: ", compact(key));
}

void JsonStream::add(const Json& value)
{
    const bool is_row = levels_.back().is_list;
    if (is_row) {
        begin_item();
    }
    sink_->add(pretty(value, {.depth = levels_.size(), .is_row = is_row}));
}

void JsonStream::add(std::string_view key_text, const Json& value)
{
    key(key_text);
    add(value);
}

}  // namespace memsweep::reporters
