#include "scenarios/reader/fields.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/assert.hpp"
#include "scenarios/reader/quote.hpp"

namespace memsweep::scenarios {
namespace {

const OptionInfo* find_option(std::span<const OptionInfo> table, std::string_view key)
{
    const auto found =
        std::find_if(table.begin(), table.end(), [&](const OptionInfo& option) { return option.name == key; });
    return found == table.end() ? nullptr : &*found;
}

}  // namespace

Fields::Fields(const Node& node, std::string what, const Reading& reading)
    : node_{node}, object_{node.as<Object>()}, what_{std::move(what)}, reading_{reading}
{
    if (object_ == nullptr) {
        complain(node.place, fmt::format("{} must be an object, not {}", what_, describe(node)));
    }
}

void Fields::check(std::span<const OptionInfo> table, std::span<const OptionInfo> more)
{
    table_ = table;
    more_ = more;
    if (object_ == nullptr) {
        return;
    }
    each([this](const Member& member) { check_key(member); });
    for (const auto& options : {table, more}) {
        for (const OptionInfo& option : options) {
            if (option.required && !has(option.name)) {
                complain(node_.place, fmt::format("{} lacks \"{}\": {}", what_, option.name, option.help));
            }
        }
    }
}

const Node* Fields::raw(std::string_view key) const
{
    return object_ == nullptr ? nullptr : find(*object_, key);
}

const Place& Fields::place(std::string_view key) const
{
    const Node* value = raw(key);
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
    const Node* node = raw(option.name);
    if (node == nullptr || (option.nullable && node->as<std::monostate>() != nullptr)) {
        return std::nullopt;
    }
    return read_value(*node, option, reading_);
}

void Fields::complain(const Place& place, std::string message) const
{
    reading_.diagnostics.add(place, std::move(message));
}

const OptionInfo& Fields::option(std::string_view key) const
{
    const OptionInfo* found = find_option(table_, key);
    found = found != nullptr ? found : find_option(more_, key);
    MEMSWEEP_ASSERT(found != nullptr, "every key the loader reads is in its option table");
    return *found;
}

void Fields::check_key(const Member& member) const
{
    if (find_option(table_, member.key) != nullptr || find_option(more_, member.key) != nullptr) {
        return;
    }
    std::vector<std::string_view> known;
    for (const auto& options : {table_, more_}) {
        for (const OptionInfo& option : options) {
            known.push_back(option.name);
        }
    }
    complain(member.key_place,
             fmt::format("unknown key {} in {}{}", in_quotes(member.key), what_, did_you_mean(member.key, known)));
}

}  // namespace memsweep::scenarios
