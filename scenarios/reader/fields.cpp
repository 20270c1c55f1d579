#include "scenarios/reader/fields.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "core/base/assert.hpp"
#include "core/base/quantity.hpp"
#include "core/base/text.hpp"
#include "core/model/transfer.hpp"
#include "scenarios/reader/foreign_text.hpp"
#include "scenarios/reader/limits.hpp"

namespace memsweep::scenarios {
namespace {

using Whole = std::optional<std::uint64_t>;

// " (from ...)": what stands in the file for a value that was read from elsewhere, and where, if the command line has
// set it. Empty: the value stands in the file as it is.
std::string origin(const SourceNode& node, const SourceNode& read)
{
    if (&node == &read) {
        return {};
    }
    return read.place == node.place ? fmt::format(" (from {})", describe(node))
                                    : fmt::format(" (from {} at {})", describe(node), to_text(node.place));
}

base::Expected<std::uint64_t> parse_quantity(const std::string& text, OptionKind kind)
{
    if (kind == OptionKind::size) {
        return base::parse_size(text);
    }
    return static_cast<std::uint64_t>(MEMSWEEP_TRY(base::parse_duration(text)).count());
}

struct ToScalar {
    using Result = std::optional<model::Scalar>;
    Result operator()(bool value) const { return value; }
    Result operator()(std::int64_t value) const { return value; }
    Result operator()(double value) const { return value; }
    Result operator()(const std::string& value) const { return value; }
    template <typename Other>
    Result operator()(const Other& /*value*/) const
    {
        return std::nullopt;  // null, lists, objects, and integers from 2^63 on
    }
};

// One value of an option, with its placeholders replaced.
class ValueReader {
  public:
    ValueReader(const SourceNode& node, const OptionInfo& option, const Reading& reading)
        : node_{node}, option_{option}, reading_{reading}, place_{node.place}
    {
    }

    std::optional<Value> read()
    {
        switch (option_.kind) {
        case OptionKind::size:
        case OptionKind::duration:
        case OptionKind::integer:
            return resolved(&ValueReader::whole);
        case OptionKind::number:
            return resolved(&ValueReader::number);
        case OptionKind::boolean:
            return resolved(&ValueReader::boolean);
        case OptionKind::name:
        case OptionKind::text:
            return resolved(&ValueReader::text);
        case OptionKind::choice:
            return resolved(&ValueReader::choice);
        case OptionKind::device:
            return resolved(&ValueReader::device);
        case OptionKind::shape:
            return extents();
        case OptionKind::choices:
            return choices();
        case OptionKind::texts:
            return texts();
        case OptionKind::object:
        case OptionKind::list:
            break;
        }
        MEMSWEEP_ASSERT(false, "a key of this kind is read by its own reader");
        return std::nullopt;
    }

  private:
    // Reads the value by `kind` once its placeholders are replaced.
    std::optional<Value> resolved(std::optional<Value> (ValueReader::*kind)(const SourceNode&))
    {
        SourceNode storage;
        const SourceNode* read = resolve(node_, storage, reading_.scope, reading_.diagnostics);
        if (read == nullptr) {
            return std::nullopt;
        }
        place_ = read->place;
        return (this->*kind)(*read);
    }

    std::optional<Value> boolean(const SourceNode& read)
    {
        const auto* value = read.as<bool>();
        return value == nullptr ? must_be(read) : std::optional<Value>{*value};
    }

    // A value that the unit parser refuses is reported in its own words.
    std::optional<Value> whole(const SourceNode& read)
    {
        const auto* text = read.as<std::string>();
        const bool has_unit = option_.kind == OptionKind::size || option_.kind == OptionKind::duration;
        constexpr std::size_t longest_quantity = 40;  // anything longer is no number, and its message too long
        Whole value;
        if (text != nullptr && has_unit && text->size() <= longest_quantity) {
            const auto quantity = parse_quantity(*text, option_.kind);
            if (!quantity) {
                return complain(
                    fmt::format("\"{}\": {}{}", option_.name, quantity.error().message, origin(node_, read)));
            }
            value = *quantity;
        } else if (option_.kind != OptionKind::duration) {
            value = whole_number(read);
        }
        if (!value || *value < option_.min || *value > option_.max) {
            return must_be(read);
        }
        return *value;
    }

    std::optional<Value> number(const SourceNode& read)
    {
        std::optional<double> value;
        if (const auto* decimal = read.as<double>()) {
            value = *decimal;
        } else if (const Whole number = whole_number(read)) {
            value = static_cast<double>(*number);
        }
        const bool within =
            value && *value >= static_cast<double>(option_.min) && *value <= static_cast<double>(option_.max);
        return within ? std::optional<Value>{*value} : must_be(read);
    }

    std::optional<Value> text(const SourceNode& read)
    {
        const auto* value = read.as<std::string>();
        if (value == nullptr || (option_.kind == OptionKind::name && !is_name(*value))) {
            return must_be(read);
        }
        return *value;
    }

    std::optional<Value> choice(const SourceNode& read)
    {
        const auto* value = read.as<std::string>();
        if (value == nullptr) {
            return must_be(read);
        }
        const auto known = option_.choices();
        if (std::find(known.begin(), known.end(), *value) == known.end()) {
            return complain(fmt::format("\"{}\": unknown value {}{}{}", option_.name, in_quotes(*value),
                                        origin(node_, read), base::suggestion(*value, known)));
        }
        return *value;
    }

    std::optional<Value> device(const SourceNode& read)
    {
        const auto* value = read.as<std::string>();
        if (value == nullptr) {
            return must_be(read);
        }
        const auto number = device_number(*value);
        if (!number) {
            return complain(
                fmt::format("\"{}\" names one device, as in \"gpu0\", not {}", option_.name, in_quotes(*value)));
        }
        return std::uint64_t{*number};
    }

    // An extent that cannot be read is reported, and counts as 1.
    std::optional<Value> extents()
    {
        const List* list = node_.as<List>();
        if (list == nullptr) {
            return must_be(node_);
        }
        if (list->empty() || list->size() > max_shape_rank) {
            return complain(fmt::format("\"{}\" must have 1 to {} extents", option_.name, max_shape_rank));
        }
        OptionInfo extent = option_;
        extent.kind = OptionKind::integer;
        std::vector<std::uint64_t> read;
        for (const SourceNode& item : *list) {
            const auto value = ValueReader{item, extent, reading_}.read();
            read.push_back(value ? std::get<std::uint64_t>(*value) : 1);
        }
        return read;
    }

    std::optional<Value> choices()
    {
        const List* list = node_.as<List>();
        if (list == nullptr || list->empty()) {
            return must_be(node_);
        }
        std::vector<std::string> read;
        for (std::size_t i = 0; i < list->size() && !reading_.diagnostics.full(); ++i) {
            if (auto value = ValueReader{(*list)[i], option_, reading_}.resolved(&ValueReader::choice)) {
                read.push_back(std::get<std::string>(*std::move(value)));
            }
        }
        return read;
    }

    std::optional<Value> texts()
    {
        const List* list = node_.as<List>();
        if (list == nullptr && node_.as<std::string>() == nullptr) {
            return must_be(node_);
        }
        std::vector<std::string> read;
        for (std::size_t i = 0; i < (list == nullptr ? 1 : list->size()) && !reading_.diagnostics.full(); ++i) {
            auto text = read_text(list == nullptr ? node_ : (*list)[i], fmt::format("\"{}\"", option_.name), reading_);
            if (!text) {
                return std::nullopt;
            }
            read.push_back(*std::move(text));
        }
        return read;
    }

    std::nullopt_t complain(std::string message)
    {
        reading_.diagnostics.add(place_, std::move(message));
        return std::nullopt;
    }

    std::nullopt_t must_be(const SourceNode& read)
    {
        return complain(fmt::format("\"{}\" must be {}, not {}{}", option_.name, accepted(option_), describe(read),
                                    origin(node_, read)));
    }

    const SourceNode& node_;
    const OptionInfo& option_;
    const Reading& reading_;
    Place place_;  // where what is read stands: in the file, or on the command line that set it
};

}  // namespace

Whole whole_number(const SourceNode& node)
{
    if (const auto* value = node.as<std::int64_t>()) {
        return *value >= 0 ? Whole{static_cast<std::uint64_t>(*value)} : std::nullopt;
    }
    const auto* large = node.as<std::uint64_t>();
    return large != nullptr ? Whole{*large} : std::nullopt;
}

std::optional<std::uint32_t> device_number(std::string_view name)
{
    constexpr std::uint32_t max_device_number = 1023;  // no machine has so many
    const auto place = model::parse_end(name);
    const bool one = place && place->kind == model::TransferEnd::Kind::device && place->number && !place->rank &&
                     *place->number <= max_device_number;
    return one ? std::optional{*place->number} : std::nullopt;
}

std::vector<std::string> out_of_bounds(std::span<const OptionInfo> options, const void* object)
{
    std::vector<std::string> problems;
    for (const OptionInfo& row : options) {
        const Value value = row.binding.get == nullptr ? Value{} : row.binding.get(object);
        const auto* number = std::get_if<std::uint64_t>(&value);
        if (has_bounds(row.kind) && number != nullptr && (*number < row.min || *number > row.max)) {
            problems.push_back(
                fmt::format("\"{}\" must be {}, not {}", row.name, accepted(row), format_bound(row.kind, *number)));
        }
    }
    return problems;
}

std::optional<Value> read_value(const SourceNode& node, const OptionInfo& option, const Reading& reading)
{
    return ValueReader{node, option, reading}.read();
}

std::optional<model::Scalar> read_scalar(const SourceNode& node, std::string_view what, const Reading& reading)
{
    SourceNode storage;
    const SourceNode* read = resolve(node, storage, reading.scope, reading.diagnostics);
    if (read == nullptr) {
        return std::nullopt;
    }
    auto scalar = std::visit(ToScalar{}, read->value);
    if (!scalar) {
        reading.diagnostics.add(node.place,
                                fmt::format("{} must be a string, a number of at most 63 bits or a boolean, not {}",
                                            what, describe(*read)));
    }
    return scalar;
}

std::optional<std::string> read_text(const SourceNode& node, std::string_view what, const Reading& reading)
{
    if (node.as<std::string>() == nullptr) {
        reading.diagnostics.add(node.place, fmt::format("{} is made of strings, not of {}", what, describe(node)));
        return std::nullopt;
    }
    const auto scalar = read_scalar(node, what, reading);
    return scalar ? std::optional{model::to_text(*scalar)} : std::nullopt;
}

SourceNode node_of(const model::Scalar& value, const Place& place)
{
    return std::visit([&](const auto& scalar) { return SourceNode{place, scalar}; }, value);
}

Fields::Fields(const SourceNode& node, std::string what, const Reading& reading)
    : node_{node}, object_{node.as<Object>()}, what_{std::move(what)}, reading_{reading}
{
    if (object_ == nullptr) {
        complain(node.place, fmt::format("{} must be an object, not {}", what_, describe(node)));
    }
}

void Fields::check(std::span<const OptionInfo> table, std::span<const OptionInfo> more)
{
    tables_ = {table, more};
    if (object_ == nullptr) {
        return;
    }
    each([this](const Member& member) { check_key(member); });
    for (const auto& options : tables_) {
        for (const OptionInfo& option : options) {
            if (option.required && !has(option.name)) {
                complain(node_.place, fmt::format("{} lacks \"{}\": {}", what_, option.name, option.help));
            }
        }
    }
}

const SourceNode* Fields::raw(std::string_view key) const
{
    return object_ == nullptr ? nullptr : find(*object_, key);
}

bool Fields::has_format(std::string_view format) const
{
    const SourceNode* node = raw("format");
    const auto* name = node == nullptr ? nullptr : node->as<std::string>();
    if (node == nullptr || (name != nullptr && *name == format)) {
        return true;
    }
    complain(node->place, fmt::format("\"format\" must be \"{}\", not {}", format, describe(*node)));
    return false;
}

const Place& Fields::place(std::string_view key) const
{
    const SourceNode* value = raw(key);
    return value == nullptr ? node_.place : value->place;
}

void Fields::read(std::span<const OptionInfo> options, void* object) const
{
    for (const OptionInfo& row : options) {
        if (row.binding.set == nullptr) {
            continue;
        }
        if (const auto read = value(row)) {
            row.binding.set(object, *read);
        }
    }
}

std::optional<Value> Fields::value(const OptionInfo& option) const
{
    const SourceNode* node = raw(option.name);
    if (node == nullptr || (option.nullable && node->as<std::monostate>() != nullptr)) {
        return std::nullopt;
    }
    return read_value(*node, option, reading_);
}

void Fields::complain(const Place& place, std::string message) const
{
    reading_.diagnostics.add(place, std::move(message));
}

const OptionInfo* Fields::find_option(std::string_view key) const
{
    for (const auto& options : tables_) {
        if (const auto found = std::ranges::find(options, key, &OptionInfo::name); found != options.end()) {
            return &*found;
        }
    }
    return nullptr;
}

const OptionInfo& Fields::option(std::string_view key) const
{
    const OptionInfo* found = find_option(key);
    MEMSWEEP_ASSERT(found != nullptr, "every key the loader reads is in its option table");
    return *found;
}

void Fields::check_key(const Member& member) const
{
    if (find_option(member.key) != nullptr) {
        return;
    }
    std::vector<std::string_view> known;
    for (const auto& options : tables_) {
        std::ranges::transform(options, std::back_inserter(known), &OptionInfo::name);
    }
    complain(member.key_place,
             fmt::format("unknown key {} in {}{}", in_quotes(member.key), what_, base::suggestion(member.key, known)));
}

}  // namespace memsweep::scenarios
