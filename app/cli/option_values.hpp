// What the text behind an option becomes: a text, a number, a size, a duration, one of several words, or what a
// command's own function makes of it.
//
// The targets must outlive the parsing. They keep their value when the option is not given.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/cli/command_line.hpp"
#include "core/base/expected.hpp"
#include "core/model/names.hpp"

namespace memsweep::app::value {

// Passes each text on to `read`, whose error's message says what is wrong with it.
using ReadText = std::function<base::Expected<void>(const std::string& text)>;
[[nodiscard]] OptionValue each(ReadText read, Arity arity = Arity::one);

[[nodiscard]] OptionValue flag(bool& target);

[[nodiscard]] OptionValue text(std::string& target);
[[nodiscard]] OptionValue texts(std::vector<std::string>& target, Arity arity = Arity::many);
// Several in one text, with commas between them.
[[nodiscard]] OptionValue comma_texts(std::vector<std::string>& target);
// One of `choices`, or several of them.
[[nodiscard]] OptionValue word(std::string& target, std::vector<std::string> choices);
[[nodiscard]] OptionValue words(std::vector<std::string>& target, std::vector<std::string> choices);

// "64KiB"; "20ms".
[[nodiscard]] OptionValue size(std::uint64_t& target);
[[nodiscard]] OptionValue size(std::optional<std::uint64_t>& target);
[[nodiscard]] OptionValue duration(std::chrono::nanoseconds& target);
[[nodiscard]] OptionValue duration(std::optional<std::chrono::nanoseconds>& target);

// "NAME=VALUE"; `shape` is how the error calls it.
[[nodiscard]] OptionValue pairs(std::vector<std::pair<std::string, std::string>>& target, std::string shape,
                                Arity arity = Arity::many);
[[nodiscard]] OptionValue pairs(std::map<std::string, std::string>& target, std::string shape,
                                Arity arity = Arity::many);

// A whole number, in decimal digits alone: neither a sign nor more than `max` becomes another number unseen.
[[nodiscard]] base::Expected<std::uint64_t> whole_number(const std::string& digits, std::uint64_t min,
                                                         std::uint64_t max);

template <typename T>
[[nodiscard]] OptionValue number(T& target, std::uint64_t min, std::uint64_t max)
{
    return each([&target, min, max](const std::string& digits) {
        return whole_number(digits, min, max).map([&](std::uint64_t value) { target = static_cast<T>(value); });
    });
}

template <typename T>
[[nodiscard]] OptionValue number(std::optional<T>& target, std::uint64_t min, std::uint64_t max)
{
    return each([&target, min, max](const std::string& digits) {
        return whole_number(digits, min, max).map([&](std::uint64_t value) { target = static_cast<T>(value); });
    });
}

// One of the words of an enumeration: each with its enumerator, or those that the model gives it.
template <typename Enum, std::size_t count>
[[nodiscard]] OptionValue choice(Enum& target, const std::array<std::pair<std::string_view, Enum>, count>& names)
{
    OptionValue value = each([&target, names](const std::string& given) -> base::Expected<void> {
        for (const auto& [name, enumerator] : names) {
            target = name == given ? enumerator : target;
        }
        return {};
    });
    for (const auto& [name, enumerator] : names) {
        value.choices.emplace_back(name);
    }
    return value;
}

template <typename Enum>
[[nodiscard]] OptionValue choice(std::optional<Enum>& target)
{
    OptionValue value = each([&target](const std::string& given) -> base::Expected<void> {
        target = model::value_of<Enum>(given);
        return {};
    });
    for (const std::string_view name : model::all_names<Enum>()) {
        value.choices.emplace_back(name);
    }
    return value;
}

// The names of a table's rows, to choose from or to complete.
template <typename Table>
[[nodiscard]] std::vector<std::string> names_in(const Table& table)
{
    std::vector<std::string> names;
    for (const auto& row : table) {
        names.emplace_back(row.name);
    }
    return names;
}

}  // namespace memsweep::app::value
