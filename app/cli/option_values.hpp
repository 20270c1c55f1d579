// Converts the text after an option to a string, a number, a size, a duration or one of several words. For every other
// kind of value, the command passes a function that reads the text.
//
// A target must outlive the parsing. If the option is not given, the target keeps its value.
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

// each() passes each text of an option to `read`. If `read` fails, the error's message must say what is wrong with the
// text.
using ReadText = std::function<base::Expected<void>(const std::string& text)>;
[[nodiscard]] OptionValue each(ReadText read, Arity arity = Arity::one);
// Like each(), but commas separate texts, too.
[[nodiscard]] OptionValue each_of_list(ReadText read);
// Makes the value of an option that accepts every text.
[[nodiscard]] OptionValue any(std::function<void(const std::string& text)> take, Arity arity = Arity::one);

[[nodiscard]] OptionValue flag(bool& target);

[[nodiscard]] OptionValue text(std::string& target);
[[nodiscard]] OptionValue texts(std::vector<std::string>& target, Arity arity = Arity::many);
// Makes the value of an option whose texts are a program and its arguments. An argument may be an empty text.
[[nodiscard]] OptionValue command(std::vector<std::string>& target);
// Makes the value of an option that takes a list such as "a,b,c": texts separated by commas.
[[nodiscard]] OptionValue comma_texts(std::vector<std::string>& target);
// word() accepts one of `choices`. words() accepts any number of them.
[[nodiscard]] OptionValue word(std::string& target, std::vector<std::string> choices);
[[nodiscard]] OptionValue words(std::vector<std::string>& target, std::vector<std::string> choices);

// offering() adds words that completions offer; they are not checked. defaulting() adds the value that --help shows as
// the default.
[[nodiscard]] OptionValue offering(OptionValue value, std::vector<std::string> offered);
[[nodiscard]] OptionValue defaulting(OptionValue value, std::string fallback);

// Lets the option also be given as "--name" alone. It then means the same as "--name=" followed by `text`.
[[nodiscard]] OptionValue alone_meaning(OptionValue value, std::string text);

// Converts the text with `parse`. The target may be an optional.
template <typename Target, typename Parse>
[[nodiscard]] OptionValue parsed(Target& target, Parse parse)
{
    return each([&target, parse](const std::string& given) {
        return parse(given).map([&](auto value) { target = std::move(value); });
    });
}

// size() reads "64KiB", duration() reads "20ms".
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

// Reads a whole number that is written with decimal digits only. A sign is an error, and so is a value less than `min`
// or greater than `max`.
[[nodiscard]] base::Expected<std::uint64_t> whole_number(const std::string& digits, std::uint64_t min,
                                                         std::uint64_t max);

// Reads a whole number from `min` to `max`, both included. The target's type must be able to hold `max`. The target may
// be an optional; if it is a plain number, --help shows its value as the default.
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

// Splits "NAME=VALUE". `shape`: the form to name in an error, such as "NAME=VALUE".
using Pair = std::pair<std::string, std::string>;
[[nodiscard]] base::Expected<Pair> split_pair(const std::string& text, const std::string& shape);

// Reads texts "NAME=VALUE". The target is a map, or a vector that keeps the pairs in their order.
template <typename Target>
[[nodiscard]] OptionValue pairs(Target& target, std::string shape, Arity arity = Arity::each_time)
{
    return each(
        [&target, shape = std::move(shape)](const std::string& given) {
            return split_pair(given, shape).map([&](Pair pair) { target.insert(target.end(), std::move(pair)); });
        },
        arity);
}

// Reads one word and stores the enumerator that the word names. The accepted words come from `names`, or from the
// model's table of names.
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

// Returns the names of a table's rows, for choices or completions.
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
