#include "scenarios/fields.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/base/assert.hpp"
#include "scenarios/quote.hpp"
#include "scenarios/values.hpp"

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

void Fields::read(std::string_view key, std::uint64_t& into) const
{
    if (const Node* node = raw(key)) {
        into = read_whole(*node, option(key), reading_).value_or(into);
    }
}

void Fields::read(std::string_view key, std::uint32_t& into) const
{
    const OptionInfo& info = option(key);
    MEMSWEEP_ASSERT(info.max <= std::numeric_limits<std::uint32_t>::max(), "the table's bound must fit its target");
    std::uint64_t value = into;
    read(key, value);
    into = static_cast<std::uint32_t>(value);
}

void Fields::read(std::string_view key, std::chrono::nanoseconds& into) const
{
    auto value = static_cast<std::uint64_t>(into.count());
    read(key, value);
    into = std::chrono::nanoseconds{static_cast<std::int64_t>(value)};
}

void Fields::read(std::string_view key, double& into) const
{
    if (const Node* node = raw(key)) {
        into = read_number(*node, option(key), reading_).value_or(into);
    }
}

void Fields::read(std::string_view key, bool& into) const
{
    if (const Node* node = raw(key)) {
        into = read_boolean(*node, option(key), reading_).value_or(into);
    }
}

bool Fields::read(std::string_view key, std::string& into) const
{
    const Node* node = raw(key);
    auto text = node == nullptr ? std::nullopt : read_text(*node, option(key), reading_);
    if (text) {
        into = std::move(*text);
    }
    return text.has_value();
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

std::optional<std::string> Fields::choice(std::string_view key) const
{
    const Node* node = raw(key);
    return node == nullptr ? std::nullopt : read_choice_name(*node, option(key), reading_);
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
