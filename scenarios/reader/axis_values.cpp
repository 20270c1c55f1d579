#include "scenarios/reader/axes.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/checked.hpp"
#include "core/base/quantity.hpp"
#include "scenarios/reader/fields.hpp"
#include "scenarios/reader/foreign_text.hpp"
#include "scenarios/reader/limits.hpp"
#include "scenarios/reader/option_tables.hpp"
#include "scenarios/reader/substitution.hpp"

namespace memsweep::scenarios {
namespace {

bool is_text(const model::Scalar& value)
{
    return std::holds_alternative<std::string>(value);
}

base::Expected<std::uint64_t> whole(const model::Scalar& value, std::string_view role)
{
    if (const auto* text = std::get_if<std::string>(&value)) {
        auto bytes = base::parse_size(text->size() <= max_name_bytes ? std::string_view{*text} : "...");
        return bytes ? bytes : invalid(fmt::format("range \"{}\": {}", role, bytes.error().message));
    }
    const auto* number = std::get_if<std::int64_t>(&value);
    if (number == nullptr || *number < 0) {
        return invalid(
            fmt::format("range \"{}\" must be an integer from 0 on, or a size, not {}; list other values one by one",
                        role, model::to_text(value)));
    }
    return static_cast<std::uint64_t>(*number);
}

// {"from","to","factor"}, {"from","to","step"}, [4KiB:1GiB:*4], [1:10:+1]: integers, or sizes when `from`, `to` or `by`
// carries a unit; sizes come out as their shortest exact text.
struct AxisRange {
    model::Scalar from;
    model::Scalar to;
    model::Scalar by;
    bool multiply{};  // by is a factor; else a step
};

// Errors: an end or step that is neither, a range that is empty, endless or longer than max_axis_values.
base::Expected<std::vector<model::Scalar>> range_values(const AxisRange& range)
{
    const std::uint64_t from = MEMSWEEP_TRY(whole(range.from, "from"));
    const std::uint64_t to = MEMSWEEP_TRY(whole(range.to, "to"));
    if (range.multiply && is_text(range.by)) {
        return invalid("range \"factor\" must be a bare integer");
    }
    const std::uint64_t by = MEMSWEEP_TRY(whole(range.by, range.multiply ? "factor" : "step"));
    if (from > to) {
        return invalid(fmt::format("the range is empty: \"from\" {} is above \"to\" {}", model::to_text(range.from),
                                   model::to_text(range.to)));
    }
    if (range.multiply && (by < 2 || from == 0)) {
        return invalid(from == 0 ? "a range with \"factor\" cannot start at 0"
                                 : "range \"factor\" must be an integer from 2 on");
    }
    if (by == 0) {
        return invalid("range \"step\" must be at least 1");
    }
    const bool sizes = is_text(range.from) || is_text(range.to) || (!range.multiply && is_text(range.by));
    std::vector<model::Scalar> values;
    std::optional<std::uint64_t> value = from;
    while (value && *value <= to) {
        if (values.size() == max_axis_values ||
            *value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
            return invalid(fmt::format("the range has more than {} values or passes 64 bits", max_axis_values));
        }
        values.push_back(sizes ? model::Scalar{base::exact_size(*value)}
                               : model::Scalar{static_cast<std::int64_t>(*value)});
        value = range.multiply ? base::checked_mul(*value, by) : base::checked_add(*value, by);
    }
    return values;
}

std::vector<std::string_view> split(std::string_view text, char separator)
{
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t at = text.find(separator);
        parts.push_back(text.substr(0, at));
        if (at == std::string_view::npos) {
            return parts;
        }
        text.remove_prefix(at + 1);
    }
}

bool looks_like_range(const std::vector<std::string_view>& parts)
{
    return parts.size() == 3 && (parts[2].starts_with('*') || parts[2].starts_with('+'));
}

// [1:10] is a range without its step; host:pinned is a value.
bool lacks_step(const std::vector<std::string_view>& parts)
{
    return parts.size() >= 2 && !parts[0].empty() && parts[0][0] >= '0' && parts[0][0] <= '9';
}

// As hyperfine reads a list: \, is a comma within a value, and \\ a backslash. Any other backslash is itself.
std::vector<std::string> list_items(std::string_view text)
{
    std::vector<std::string> items(1);
    for (std::size_t at = 0; at < text.size(); ++at) {
        const bool escapes = text[at] == '\\' && at + 1 < text.size() && (text[at + 1] == ',' || text[at + 1] == '\\');
        if (text[at] == ',') {
            items.emplace_back();
        } else {
            at += escapes ? 1 : 0;
            items.back() += text[at];
        }
    }
    return items;
}

base::Expected<std::vector<model::Scalar>> list_values(std::string_view body)
{
    std::vector<model::Scalar> values;
    for (const std::string& item : list_items(body)) {
        if (item.empty() || values.size() == max_axis_values) {
            return invalid(item.empty() ? "an empty value; write [VALUE,VALUE] without blanks"
                                        : fmt::format("more than {} values", max_axis_values));
        }
        values.push_back(scalar_of_text(item));
    }
    return values;
}

}  // namespace

base::Expected<std::vector<model::Scalar>> parse_axis_values(std::string_view text)
{
    if (text.size() > max_text_bytes * 16 || find_bad_byte(text)) {
        return invalid("too long, or not plain UTF-8 text");
    }
    if (!text.starts_with('[')) {
        return list_values(text);
    }
    if (!text.ends_with(']')) {
        return invalid(fmt::format("{} lacks its closing bracket", in_quotes(text)));
    }
    const std::string_view body = text.substr(1, text.size() - 2);
    const auto parts = split(body, ':');
    if (looks_like_range(parts)) {
        return range_values({scalar_of_text(parts[0]), scalar_of_text(parts[1]), scalar_of_text(parts[2].substr(1)),
                             parts[2].starts_with('*')});
    }
    if (lacks_step(parts)) {
        return invalid(fmt::format("{} is not a range: write [FROM:TO:*FACTOR] or [FROM:TO:+STEP]", in_quotes(text)));
    }
    return list_values(body);
}

std::string verbatim_axis_text(std::string_view list)
{
    const std::vector<std::string> items = list_items(list);
    const bool as_read = !list.starts_with('[') && std::ranges::all_of(items, [](const std::string& item) {
        return model::to_text(scalar_of_text(item)) == item;
    });
    if (as_read || find_bad_byte(list)) {
        return std::string{list};
    }
    std::string text;
    for (const std::string& item : items) {
        text += text.empty() ? "" : ",";
        for (const char c : nlohmann::json(item).dump()) {
            text += c == ',' || c == '\\' ? fmt::format("\\{}", c) : std::string{c};
        }
    }
    return text;
}

namespace {

constexpr std::size_t max_path_bytes = 255;

// Paths, of an allocator's library, may be longer than names.
bool is_printable(const std::string& text)
{
    const std::size_t most = text.starts_with('/') ? max_path_bytes : max_name_bytes;
    return !text.empty() && text.size() <= most && !find_bad_byte(text) &&
           text.find_first_of("\t\r\n") == std::string::npos;
}

bool is_literal(const SourceNode& node)
{
    const auto* text = node.as<std::string>();
    return text == nullptr || !has_placeholder(*text);
}

// One written twice is an error; one that a placeholder makes equal to another, as [1, 2, "${ncpus}"] does on a machine
// with two processors, is left out. Empty when one of them was reported.
AxisValues check_all(const List& nodes, const Reading& reading)
{
    std::map<std::string, bool> seen;  // text, and whether it was written out
    std::vector<model::Scalar> values;
    bool complete = true;
    for (std::size_t i = 0; i < nodes.size() && !reading.diagnostics.full(); ++i) {
        const SourceNode& node = nodes[i];
        const auto refuse = [&](std::string message) {
            reading.diagnostics.add(node.place, std::move(message));
            complete = false;
        };
        auto value = read_scalar(node, "an axis value", reading);
        if (!value) {
            complete = false;
            continue;
        }
        std::string text = model::to_text(*value);
        if (!is_printable(text)) {
            refuse(fmt::format("an axis value must have 1 to {} bytes and no control characters, not {}",
                               max_name_bytes, in_quotes(text)));
            continue;
        }
        const bool literal = is_literal(node);
        const auto [known, fresh] = seen.try_emplace(std::move(text), literal);
        if (fresh) {
            values.push_back(std::move(*value));
        } else if (literal && known->second) {
            refuse(fmt::format("the axis has the value {} twice", in_quotes(known->first)));
        }
    }
    return complete ? AxisValues{std::move(values)} : std::nullopt;
}

AxisValues read_list(const SourceNode& node, const List& list, const Reading& reading)
{
    if (list.empty() || list.size() > max_axis_values) {
        reading.diagnostics.add(node.place, list.empty()
                                                ? std::string{"the axis has no values"}
                                                : fmt::format("the axis has more than {} values", max_axis_values));
        return std::nullopt;
    }
    return check_all(list, reading);
}

std::optional<AxisRange> read_range_parts(const Fields& fields, const Reading& reading)
{
    const bool multiply = fields.has("factor");
    std::vector<model::Scalar> parts;
    for (const std::string_view key : {"from", "to", multiply ? "factor" : "step"}) {
        const SourceNode* node = fields.raw(key);
        auto value = node == nullptr ? std::nullopt : read_scalar(*node, fmt::format("\"{}\"", key), reading);
        if (value) {
            parts.push_back(std::move(*value));
        }
    }
    return parts.size() == 3 ? std::optional{AxisRange{parts[0], parts[1], parts[2], multiply}} : std::nullopt;
}

AxisValues read_range(const SourceNode& node, const Reading& reading)
{
    Fields fields{node, "an axis range", reading};
    fields.check(axis_range_options());
    if (fields.has("factor") == fields.has("step")) {
        fields.complain(node.place, "an axis range needs either \"factor\" or \"step\"");
        return std::nullopt;
    }
    const auto range = read_range_parts(fields, reading);
    if (!range) {
        return std::nullopt;
    }
    auto values = range_values(*range);
    if (!values) {
        fields.complain(node.place, std::move(values.error().message));
        return std::nullopt;
    }
    return std::move(*values);
}

}  // namespace

AxisValues read_axis_values(const SourceNode& node, const Reading& reading)
{
    if (const List* list = node.as<List>()) {
        return read_list(node, *list, reading);
    }
    if (node.as<Object>() != nullptr) {
        return read_range(node, reading);
    }
    reading.diagnostics.add(node.place,
                            fmt::format("an axis must be a list of values, or an object with \"from\", \"to\" and "
                                        "\"factor\" or \"step\", not {}",
                                        describe(node)));
    return std::nullopt;
}

AxisValues read_axis_text(const std::string& text, const Place& flag, const Reading& reading)
{
    const auto parsed = parse_axis_values(text);
    if (!parsed) {
        reading.diagnostics.add(flag, parsed.error().message);
        return std::nullopt;
    }
    List nodes;
    for (const model::Scalar& value : *parsed) {
        nodes.push_back(node_of(value, flag));
    }
    return check_all(nodes, reading);
}

}  // namespace memsweep::scenarios
