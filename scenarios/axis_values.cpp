#include "scenarios/axis_values.hpp"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "scenarios/axis_range.hpp"
#include "scenarios/axis_syntax.hpp"
#include "scenarios/limits.hpp"
#include "scenarios/quote.hpp"
#include "scenarios/text_check.hpp"
#include "scenarios/values.hpp"

namespace memsweep::scenarios {
namespace {

constexpr std::size_t max_path_bytes = 255;

// Paths, of an allocator's library, may be longer than names.
bool is_printable(const std::string& text)
{
    const std::size_t most = text.starts_with('/') ? max_path_bytes : max_name_bytes;
    return !text.empty() && text.size() <= most && !find_bad_byte(text) &&
           text.find_first_of("\t\r\n") == std::string::npos;
}

bool is_literal(const Node& node)
{
    const auto* text = node.as<std::string>();
    return text == nullptr || !has_placeholder(*text);
}

// Takes the values of one axis in turn. One written twice is an error; one that a placeholder makes equal to another,
// as [1, 2, "${ncpus}"] does on a machine with two processors, is left out.
class Values {
  public:
    explicit Values(const Reading& reading) : reading_{reading} {}

    void add(const Node& node)
    {
        auto value = read_scalar(node, "an axis value", reading_);
        std::string text = value ? model::to_text(*value) : std::string{};
        if (!value || !is_printable(text)) {
            complete_ = false;
            if (value) {
                complain(node, fmt::format("an axis value must have 1 to {} bytes and no control characters, not {}",
                                           max_name_bytes, in_quotes(text)));
            }
            return;
        }
        const bool literal = is_literal(node);
        const auto [known, fresh] = seen_.try_emplace(std::move(text), literal);
        if (fresh) {
            values_.push_back(std::move(*value));
        } else if (literal && known->second) {
            complete_ = false;
            complain(node, fmt::format("the axis has the value {} twice", in_quotes(known->first)));
        }
    }

    [[nodiscard]] AxisValues take() { return complete_ ? AxisValues{std::move(values_)} : std::nullopt; }

  private:
    void complain(const Node& node, std::string message) { reading_.diagnostics.add(node.place, std::move(message)); }

    Reading reading_;
    std::map<std::string, bool> seen_;  // text, and whether it was written out
    std::vector<model::Scalar> values_;
    bool complete_{true};
};

// Empty when one of them was reported.
AxisValues check_all(const List& nodes, const Reading& reading)
{
    Values values{reading};
    for (std::size_t i = 0; i < nodes.size() && !reading.diagnostics.full(); ++i) {
        values.add(nodes[i]);
    }
    return values.take();
}

AxisValues read_list(const Node& node, const List& list, const Reading& reading)
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
        const Node* node = fields.raw(key);
        auto value = node == nullptr ? std::nullopt : read_scalar(*node, fmt::format("\"{}\"", key), reading);
        if (value) {
            parts.push_back(std::move(*value));
        }
    }
    return parts.size() == 3 ? std::optional{AxisRange{parts[0], parts[1], parts[2], multiply}} : std::nullopt;
}

AxisValues read_range(const Node& node, const Reading& reading)
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

AxisValues read_axis_values(const Node& node, const Reading& reading)
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
