#include "scenarios/reader/option.hpp"

#include <array>

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

}  // namespace

std::string_view kind_name(OptionKind kind)
{
    switch (kind) {
    case OptionKind::size:
        return "size";
    case OptionKind::duration:
        return "duration";
    case OptionKind::integer:
        return "integer";
    case OptionKind::number:
        return "number";
    case OptionKind::boolean:
        return "boolean";
    case OptionKind::choice:
        return "choice";
    case OptionKind::choices:
        return "list of choices";
    case OptionKind::name:
        return "name";
    case OptionKind::text:
    case OptionKind::device:
        return "text";
    case OptionKind::texts:
        return "text or list of texts";
    case OptionKind::shape:
        return "list of integers";
    case OptionKind::object:
        return "object";
    case OptionKind::list:
        return "list of objects";
    }
    return "?";
}

std::string_view unit_of(OptionKind kind)
{
    switch (kind) {
    case OptionKind::size:
        return "B";
    case OptionKind::duration:
        return "ns";
    case OptionKind::integer:
    case OptionKind::number:
    case OptionKind::shape:
        return "1";
    case OptionKind::boolean:
    case OptionKind::choice:
    case OptionKind::choices:
    case OptionKind::name:
    case OptionKind::text:
    case OptionKind::texts:
    case OptionKind::device:
    case OptionKind::object:
    case OptionKind::list:
        break;
    }
    return {};
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
    const auto bounds = [&] {
        return fmt::format("{} to {}", format_bound(option.kind, option.min), format_bound(option.kind, option.max));
    };
    switch (option.kind) {
    case OptionKind::size:
        return fmt::format("a size from {}", bounds());
    case OptionKind::duration:
        return fmt::format("a duration from {}", bounds());
    case OptionKind::integer:
        return fmt::format("an integer from {}", bounds());
    case OptionKind::number:
        return fmt::format("a number from {}", bounds());
    case OptionKind::shape:
        return fmt::format("a list of integers from {}", bounds());
    case OptionKind::boolean:
        return "true or false";
    case OptionKind::choice:
        return fmt::format("one of {}", fmt::join(option.choices(), ", "));
    case OptionKind::choices:
        return fmt::format("a list of {}", fmt::join(option.choices(), ", "));
    case OptionKind::name:
        return "a lower-case letter, then letters, digits and _ (at most 64)";
    case OptionKind::text:
    case OptionKind::device:
        return "a string";
    case OptionKind::texts:
        return "a string or a list of strings";
    case OptionKind::object:
        return "an object";
    case OptionKind::list:
        return "a list of objects";
    }
    return "?";
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
