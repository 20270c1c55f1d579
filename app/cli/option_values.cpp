#include "app/cli/option_values.hpp"

#include <charconv>

#include <fmt/format.h>

namespace memsweep::app::value {

OptionValue each(ReadText read, Arity arity)
{
    return {.take = [read = std::move(read)](const std::vector<std::string>& given) -> base::Expected<void> {
                for (const std::string& one : given) {
                    MEMSWEEP_TRY(read(one));
                }
                return {};
            },
            .arity = arity};
}

OptionValue each_of_list(ReadText read)
{
    OptionValue value = each(std::move(read), Arity::each_time);
    value.commas = true;
    return value;
}

OptionValue any(std::function<void(const std::string& text)> take, Arity arity)
{
    return each(
        [take = std::move(take)](const std::string& given) {
            take(given);
            return base::Expected<void>{};
        },
        arity);
}

OptionValue flag(bool& target)
{
    return any([&target](const std::string& /*given*/) { target = true; }, Arity::flag);
}

OptionValue text(std::string& target)
{
    OptionValue value = any([&target](const std::string& given) { target = given; });
    value.fallback = target;
    return value;
}

OptionValue texts(std::vector<std::string>& target, Arity arity)
{
    return any([&target](const std::string& given) { target.push_back(given); }, arity);
}

OptionValue command(std::vector<std::string>& target)
{
    OptionValue value = texts(target);
    value.may_end_empty = true;
    return value;
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

OptionValue alone_meaning(OptionValue value, std::string text)
{
    value.arity = Arity::at_most_one;
    value.alone = std::move(text);
    return value;
}

OptionValue offering(OptionValue value, std::vector<std::string> offered)
{
    value.words = std::move(offered);
    return value;
}

OptionValue defaulting(OptionValue value, std::string fallback)
{
    value.fallback = std::move(fallback);
    return value;
}

base::Expected<Pair> split_pair(const std::string& text, const std::string& shape)
{
    const std::size_t at = text.find('=');
    if (at == std::string::npos || at == 0) {
        return refuse(fmt::format("\"{}\" is not {}", text, shape));
    }
    return Pair{text.substr(0, at), text.substr(at + 1)};
}

base::Expected<std::uint64_t> whole_number(const std::string& digits, std::uint64_t min, std::uint64_t max)
{
    std::uint64_t value{};
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (problem != std::errc{} || end != digits.data() + digits.size() || value < min || value > max) {
        return refuse(max == UINT64_MAX ? fmt::format("\"{}\" is not a whole number below 2^64", digits)
                                        : fmt::format("\"{}\" is not a whole number from {} to {}", digits, min, max));
    }
    return value;
}

}  // namespace memsweep::app::value
