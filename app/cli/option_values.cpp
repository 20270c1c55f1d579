#include "app/cli/option_values.hpp"

#include <charconv>

#include <fmt/format.h>

#include "core/base/quantity.hpp"

namespace memsweep::app::value {
namespace {

base::Expected<std::pair<std::string, std::string>> split_at_equals(const std::string& text, const std::string& shape)
{
    const std::size_t at = text.find('=');
    if (at == std::string::npos || at == 0) {
        return base::fail(base::ErrorCode::invalid_input, fmt::format("\"{}\" is not {}", text, shape));
    }
    return std::pair{text.substr(0, at), text.substr(at + 1)};
}

template <typename Target>
OptionValue parsed_size(Target& target)
{
    return each([&target](const std::string& given) {
        return base::parse_size(given).map([&](std::uint64_t bytes) { target = bytes; });
    });
}

template <typename Target>
OptionValue parsed_duration(Target& target)
{
    return each([&target](const std::string& given) {
        return base::parse_duration(given).map([&](std::chrono::nanoseconds time) { target = time; });
    });
}

template <typename Target>
OptionValue split_pairs(Target& target, std::string shape, Arity arity)
{
    return each(
        [&target, shape = std::move(shape)](const std::string& given) {
            return split_at_equals(given, shape).map([&](auto pair) { target.insert(target.end(), std::move(pair)); });
        },
        arity);
}

}  // namespace

OptionValue each(ReadText read, Arity arity)
{
    return {.take = [read = std::move(read)](const std::vector<std::string>& given) -> base::Expected<void> {
                for (const std::string& one : given) {
                    if (auto done = read(one); !done) {
                        return done;
                    }
                }
                return {};
            },
            .arity = arity};
}

OptionValue flag(bool& target)
{
    return each(
        [&target](const std::string& /*given*/) -> base::Expected<void> {
            target = true;
            return {};
        },
        Arity::flag);
}

OptionValue text(std::string& target)
{
    OptionValue value = each([&target](const std::string& given) -> base::Expected<void> {
        target = given;
        return {};
    });
    value.fallback = target;
    return value;
}

OptionValue texts(std::vector<std::string>& target, Arity arity)
{
    return each(
        [&target](const std::string& given) -> base::Expected<void> {
            target.push_back(given);
            return {};
        },
        arity);
}

OptionValue comma_texts(std::vector<std::string>& target)
{
    OptionValue value = texts(target, Arity::each_time);
    value.commas = true;
    return value;
}

OptionValue word(std::string& target, std::vector<std::string> choices)
{
    OptionValue value = text(target);
    value.choices = std::move(choices);
    return value;
}

OptionValue words(std::vector<std::string>& target, std::vector<std::string> choices)
{
    OptionValue value = texts(target, Arity::each_time);
    value.choices = std::move(choices);
    return value;
}

OptionValue size(std::uint64_t& target)
{
    return parsed_size(target);
}

OptionValue size(std::optional<std::uint64_t>& target)
{
    return parsed_size(target);
}

OptionValue duration(std::chrono::nanoseconds& target)
{
    return parsed_duration(target);
}

OptionValue duration(std::optional<std::chrono::nanoseconds>& target)
{
    return parsed_duration(target);
}

OptionValue pairs(std::vector<std::pair<std::string, std::string>>& target, std::string shape, Arity arity)
{
    return split_pairs(target, std::move(shape), arity);
}

OptionValue pairs(std::map<std::string, std::string>& target, std::string shape, Arity arity)
{
    return split_pairs(target, std::move(shape), arity);
}

base::Expected<std::uint64_t> whole_number(const std::string& digits, std::uint64_t min, std::uint64_t max)
{
    std::uint64_t value{};
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (problem != std::errc{} || end != digits.data() + digits.size() || value < min || value > max) {
        return base::fail(base::ErrorCode::invalid_input,
                          max == UINT64_MAX
                              ? fmt::format("\"{}\" is not a whole number below 2^64", digits)
                              : fmt::format("\"{}\" is not a whole number from {} to {}", digits, min, max));
    }
    return value;
}

}  // namespace memsweep::app::value
