#include "scenarios/values.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "scenarios/quote.hpp"
#include "scenarios/text_check.hpp"

namespace memsweep::scenarios {
namespace {

using Whole = std::optional<std::uint64_t>;

std::string origin(const Node& node, const Node& read)
{
    return &node == &read ? std::string{} : fmt::format(" (from {})", describe(node));
}

// A size or duration written as text; a value the unit parser refuses is reported in its own words.
Whole parse_quantity(const std::string& text, OptionKind kind, std::string& why)
{
    if (kind == OptionKind::size) {
        const auto bytes = base::parse_size(text);
        why = bytes ? "" : bytes.error().message;
        return bytes ? Whole{*bytes} : std::nullopt;
    }
    const auto duration = base::parse_duration(text);
    why = duration ? "" : duration.error().message;
    return duration ? Whole{static_cast<std::uint64_t>(duration->count())} : std::nullopt;
}

Whole unchecked(const Node& read, OptionKind kind, std::string& why)
{
    const auto* text = read.as<std::string>();
    constexpr std::size_t longest_quantity = 40;  // anything longer is no number; its message would only be long too
    if (text != nullptr && kind != OptionKind::integer && kind != OptionKind::shape &&
        text->size() <= longest_quantity) {
        return parse_quantity(*text, kind, why);
    }
    return kind == OptionKind::duration ? std::nullopt : whole_number(read);
}

}  // namespace

std::string must_be(const OptionInfo& option, const Node& node, const Node& read)
{
    return fmt::format("\"{}\" must be {}, not {}{}", option.name, accepted(option), describe(read),
                       origin(node, read));
}

Whole whole_number(const Node& node)
{
    if (const auto* value = node.as<std::int64_t>()) {
        return *value >= 0 ? Whole{static_cast<std::uint64_t>(*value)} : std::nullopt;
    }
    const auto* large = node.as<std::uint64_t>();
    return large != nullptr ? Whole{*large} : std::nullopt;
}

Whole read_whole(const Node& node, const OptionInfo& option, const Reading& reading)
{
    Node storage;
    const Node* read = resolve(node, storage, reading.scope, reading.diagnostics);
    if (read == nullptr) {
        return std::nullopt;
    }
    std::string why;
    const Whole value = unchecked(*read, option.kind, why);
    if (!value && !why.empty()) {
        reading.diagnostics.add(node.place, fmt::format("\"{}\": {}{}", option.name, why, origin(node, *read)));
        return std::nullopt;
    }
    if (!value || *value < option.min || *value > option.max) {
        reading.diagnostics.add(node.place, must_be(option, node, *read));
        return std::nullopt;
    }
    return value;
}

std::optional<double> read_number(const Node& node, const OptionInfo& option, const Reading& reading)
{
    Node storage;
    const Node* read = resolve(node, storage, reading.scope, reading.diagnostics);
    if (read == nullptr) {
        return std::nullopt;
    }
    std::optional<double> value;
    if (const auto* decimal = read->as<double>()) {
        value = *decimal;
    } else if (const Whole whole = whole_number(*read)) {
        value = static_cast<double>(*whole);
    }
    if (!value || !(*value >= static_cast<double>(option.min) && *value <= static_cast<double>(option.max))) {
        reading.diagnostics.add(node.place, must_be(option, node, *read));
        return std::nullopt;
    }
    return value;
}

std::optional<bool> read_boolean(const Node& node, const OptionInfo& option, const Reading& reading)
{
    Node storage;
    const Node* read = resolve(node, storage, reading.scope, reading.diagnostics);
    if (read == nullptr) {
        return std::nullopt;
    }
    if (const auto* value = read->as<bool>()) {
        return *value;
    }
    reading.diagnostics.add(node.place, must_be(option, node, *read));
    return std::nullopt;
}

std::optional<std::string> read_text(const Node& node, const OptionInfo& option, const Reading& reading)
{
    Node storage;
    const Node* read = resolve(node, storage, reading.scope, reading.diagnostics);
    if (read == nullptr) {
        return std::nullopt;
    }
    const auto* text = read->as<std::string>();
    if (text == nullptr || (option.kind == OptionKind::name && !is_name(*text))) {
        reading.diagnostics.add(node.place, must_be(option, node, *read));
        return std::nullopt;
    }
    return *text;
}

std::optional<std::string> read_choice_name(const Node& node, const OptionInfo& option, const Reading& reading)
{
    Node storage;
    const Node* read = resolve(node, storage, reading.scope, reading.diagnostics);
    if (read == nullptr) {
        return std::nullopt;
    }
    const auto* text = read->as<std::string>();
    if (text == nullptr) {
        reading.diagnostics.add(node.place, must_be(option, node, *read));
        return std::nullopt;
    }
    const auto known = option.choices();
    if (std::find(known.begin(), known.end(), *text) == known.end()) {
        reading.diagnostics.add(node.place, fmt::format("\"{}\": unknown value {}{}{}", option.name, in_quotes(*text),
                                                        origin(node, *read), did_you_mean(*text, known)));
        return std::nullopt;
    }
    return *text;
}

}  // namespace memsweep::scenarios
