#include "scenarios/reader/option_table.hpp"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/quantity.hpp"

namespace memsweep::scenarios {
namespace {

// The largest unit up to `largest` that divides the duration: "1ms", "24h". parse_duration reads it back.
std::string exact_duration(std::uint64_t ns, std::uint64_t largest = 3600'000'000'000)
{
    constexpr std::array<std::pair<std::uint64_t, std::string_view>, 6> units{{{3600'000'000'000, "h"},
                                                                               {60'000'000'000, "m"},
                                                                               {1000'000'000, "s"},
                                                                               {1000'000, "ms"},
                                                                               {1000, "us"},
                                                                               {1, "ns"}}};
    for (const auto& [factor, name] : units) {
        if (factor <= largest && ns >= factor && ns % factor == 0) {
            return fmt::format("{}{}", ns / factor, name);
        }
    }
    return "0ns";
}

std::string exact_count(std::uint64_t count)
{
    return count < 1'000'000'000'000 ? base::format_count(static_cast<double>(count)) : fmt::format("{}", count);
}

std::string default_number(OptionKind kind, std::uint64_t number)
{
    constexpr std::uint64_t mebibyte = 1U << 20U;
    constexpr std::uint64_t second = 1'000'000'000;
    if (kind == OptionKind::size && number % mebibyte == 0 && number != 0) {
        return base::exact_size(number);
    }
    if (kind == OptionKind::duration) {
        return exact_duration(number, second);
    }
    return kind == OptionKind::device ? fmt::format("gpu{}", number) : fmt::format("{}", number);
}

struct KindInfo {
    std::string_view name;
    std::string_view unit;
    std::string_view accepted;  // what bounds or choices follow, where the kind has any
};

// In the order of OptionKind.
constexpr std::array<KindInfo, 14> kinds{{
    {"size", "B", "a size from"},
    {"duration", "ns", "a duration from"},
    {"integer", "1", "an integer from"},
    {"number", "1", "a number from"},
    {"boolean", "", "true or false"},
    {"choice", "", "one of"},
    {"list of choices", "", "a list of"},
    {"name", "", "a lower-case letter, then letters, digits and _ (at most 64)"},
    {"text", "", "a string"},
    {"text or list of texts", "", "a string or a list of strings"},
    {"text", "", "a string"},
    {"list of integers", "1", "a list of integers from"},
    {"object", "", "an object"},
    {"list of objects", "", "a list of objects"},
}};
static_assert(kinds.size() == static_cast<std::size_t>(OptionKind::list) + 1);

const KindInfo& info_of(OptionKind kind)
{
    return kinds.at(static_cast<std::size_t>(kind));
}

}  // namespace

std::string_view kind_name(OptionKind kind)
{
    return info_of(kind).name;
}

std::string_view unit_of(OptionKind kind)
{
    return info_of(kind).unit;
}

bool has_bounds(OptionKind kind)
{
    return !unit_of(kind).empty();
}

std::string format_bound(OptionKind kind, std::uint64_t bound)
{
    if (kind == OptionKind::size) {
        return bound == 0 ? "0" : base::exact_size(bound);
    }
    return kind == OptionKind::duration ? exact_duration(bound) : exact_count(bound);
}

std::string accepted(const OptionInfo& option)
{
    const std::string_view what = info_of(option.kind).accepted;
    if (has_bounds(option.kind)) {
        return fmt::format("{} {} to {}", what, format_bound(option.kind, option.min),
                           format_bound(option.kind, option.max));
    }
    if (option.choices == nullptr) {
        return std::string{what};
    }
    constexpr std::size_t most_named = 64;
    const auto choices = option.choices();
    const auto named = std::span{choices}.first(std::min(choices.size(), most_named));
    return named.size() == choices.size()
               ? fmt::format("{} {}", what, fmt::join(choices, ", "))
               : fmt::format("{} {} and {} more", what, fmt::join(named.first(3), ", "), choices.size() - 3);
}

std::vector<model::Scalar> option_cells(std::string_view section, const OptionInfo& option)
{
    const auto bound = [&](std::uint64_t value) { return has_bounds(option.kind) ? fmt::format("{}", value) : ""; };
    const auto choices = option.choices != nullptr ? option.choices() : std::vector<std::string_view>{};
    return {std::string{section},
            std::string{option.name},
            std::string{kind_name(option.kind)},
            option.required,
            option.default_text,
            bound(option.min),
            bound(option.max),
            std::string{unit_of(option.kind)},
            fmt::format("{}", fmt::join(choices, "|")),
            std::string{option.help}};
}

std::string format_default(OptionKind kind, const Value& value)
{
    struct Written {
        OptionKind kind;
        std::string operator()(std::monostate /*none*/) const { return {}; }
        std::string operator()(bool flag) const { return flag ? "true" : "false"; }
        std::string operator()(std::uint64_t number) const { return default_number(kind, number); }
        std::string operator()(double number) const { return fmt::format("{}", number); }
        std::string operator()(const std::string& text) const { return text; }
        std::string operator()(const std::vector<std::uint64_t>& numbers) const
        {
            return numbers.empty() ? "" : fmt::format("[{}]", fmt::join(numbers, ", "));
        }
        std::string operator()(const std::vector<std::string>& names) const
        {
            return fmt::format("{}", fmt::join(names, ", "));
        }
    };
    return std::visit(Written{kind}, value);
}

}  // namespace memsweep::scenarios
