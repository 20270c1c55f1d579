// Converts the text behind an option: to a text, a number, a size, a duration, one of several words, or by a command's
// own function.
//
// The targets must outlive the parsing. If the option is not given, they keep their value.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "app/cli/command_line.hpp"
#include "core/base/expected.hpp"
#include "core/base/quantity.hpp"
#include "core/model/names.hpp"

namespace memsweep::app::value {

// Passes each text on to `read`, whose error's message says what is wrong with it.
using ReadText = std::function<base::Expected<void>(const std::string& text)>;
[[nodiscard]] OptionValue each(ReadText read, Arity arity = Arity::one);
// The same, with commas between the texts too.
[[nodiscard]] OptionValue each_of_list(ReadText read);
// The value of an option that accepts every text.
[[nodiscard]] OptionValue any(std::function<void(const std::string& text)> take, Arity arity = Arity::one);

[[nodiscard]] OptionValue flag(bool& target);

[[nodiscard]] OptionValue text(std::string& target);
[[nodiscard]] OptionValue texts(std::vector<std::string>& target, Arity arity = Arity::many);
// A program and its arguments, which may be empty.
[[nodiscard]] OptionValue command(std::vector<std::string>& target);
// Several in one text, with commas between them.
[[nodiscard]] OptionValue comma_texts(std::vector<std::string>& target);
// One of `choices`, or several of them.
[[nodiscard]] OptionValue word(std::string& target, std::vector<std::string> choices);
[[nodiscard]] OptionValue words(std::vector<std::string>& target, std::vector<std::string> choices);

// offering: adds words that completions offer and that nothing checks. defaulting: adds the value that holds if the
// option is not given.
[[nodiscard]] OptionValue offering(OptionValue value, std::vector<std::string> offered);
[[nodiscard]] OptionValue defaulting(OptionValue value, std::string fallback);

// "--name" alone means the same as "--name=text" with this text.
[[nodiscard]] OptionValue alone_meaning(OptionValue value, std::string text);

// Converts the text by `parse`; the target may be an optional.
template <typename Target, typename Parse>
[[nodiscard]] OptionValue parsed(Target& target, Parse parse)
{
    return each([&target, parse](const std::string& given) {
        return parse(given).map([&](auto value) { target = std::move(value); });
    });
}

// "64KiB"; "20ms".
template <typename Target>
[[nodiscard]] OptionValue size(Target& target)
{
    return parsed(target, base::parse_size);
}
template <typename Target>
[[nodiscard]] OptionValue duration(Target& target)
{
    return parsed(target, base::parse_duration);
}

// A whole number, in decimal digits alone. A sign, or a value beyond `max`, is an error and never another number.
[[nodiscard]] base::Expected<std::uint64_t> whole_number(const std::string& digits, std::uint64_t min,
                                                         std::uint64_t max);

// `max` fits the target, which may be an optional. If it is not one, its value is the default that help shows.
template <typename Target>
[[nodiscard]] OptionValue number(Target& target, std::uint64_t min, std::uint64_t max)
{
    using Number = typename decltype(std::optional{target})::value_type;
    OptionValue value = parsed(target, [min, max](const std::string& digits) {
        return whole_number(digits, min, max).map([](std::uint64_t number) { return static_cast<Number>(number); });
    });
    if constexpr (std::is_integral_v<Target>) {
        value.fallback = std::to_string(target);
    }
    return value;
}

// "NAME=VALUE"; the error names the form by `shape`.
using Pair = std::pair<std::string, std::string>;
[[nodiscard]] base::Expected<Pair> split_pair(const std::string& text, const std::string& shape);

// A map, or the pairs in their order.
template <typename Target>
[[nodiscard]] OptionValue pairs(Target& target, std::string shape, Arity arity = Arity::many)
{
    return each(
        [&target, shape = std::move(shape)](const std::string& given) {
            return split_pair(given, shape).map([&](Pair pair) { target.insert(target.end(), std::move(pair)); });
        },
        arity);
}

// One of the words of an enumeration: given with their enumerators, or taken from the model's table.
template <typename Target, typename Enum, std::size_t count>
[[nodiscard]] OptionValue choice(Target& target, const std::array<std::pair<std::string_view, Enum>, count>& names)
{
    OptionValue value = any([&target, names](const std::string& given) {
        for (const auto& [name, enumerator] : names) {
            if (name == given) {
                target = enumerator;
            }
        }
    });
    for (const auto& [name, enumerator] : names) {
        value.choices.emplace_back(name);
    }
    return value;
}

template <typename Enum>
[[nodiscard]] OptionValue choice(std::optional<Enum>& target)
{
    OptionValue value = any([&target](const std::string& given) { target = model::value_of<Enum>(given); });
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
