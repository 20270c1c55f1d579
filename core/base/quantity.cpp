#include "core/base/quantity.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "core/base/checked.hpp"

namespace memsweep::base {
namespace {

struct Unit {
    std::string_view name;
    std::uint64_t factor;
};

constexpr std::array<Unit, 9> size_units{{{"B", 1},
                                          {"KiB", 1ULL << 10},
                                          {"MiB", 1ULL << 20},
                                          {"GiB", 1ULL << 30},
                                          {"TiB", 1ULL << 40},
                                          {"kB", 1000},
                                          {"MB", 1000'000},
                                          {"GB", 1000'000'000},
                                          {"TB", 1000'000'000'000}}};

constexpr std::array<Unit, 6> duration_units{
    {{"ns", 1}, {"us", 1000}, {"ms", 1000'000}, {"s", 1000'000'000}, {"m", 60'000'000'000}, {"h", 3600'000'000'000}}};

struct Number {
    std::uint64_t digits{};  // value without its point
    std::uint64_t scale{1};  // 10^(digits after the point)
};

// Reads decimal digits with at most one point; removes them from `text`. Empty when there is no number or it is too
// long.
std::optional<Number> take_number(std::string_view& text)
{
    Number number;
    bool any = false;
    bool point = false;
    while (!text.empty()) {
        const char c = text.front();
        if (c == '.' && !point && any) {
            point = true;
        } else if (c >= '0' && c <= '9') {
            const auto digit = static_cast<std::uint64_t>(c - '0');
            if (number.digits > (std::numeric_limits<std::uint64_t>::max() - digit) / 10 ||
                number.scale > 1'000'000'000'000) {
                return std::nullopt;
            }
            number.digits = number.digits * 10 + digit;
            number.scale *= point ? 10 : 1;
            any = true;
        } else {
            break;
        }
        text.remove_prefix(1);
    }
    return any ? std::optional{number} : std::nullopt;
}

// digits * factor / scale when that is whole and fits.
std::optional<std::uint64_t> whole_product(const Number& number, std::uint64_t factor)
{
    const auto product = static_cast<uint128>(number.digits) * factor;
    if (product % number.scale != 0 || product / number.scale > std::numeric_limits<std::uint64_t>::max()) {
        return std::nullopt;
    }
    return static_cast<std::uint64_t>(product / number.scale);
}

const Unit* find_unit(std::span<const Unit> units, std::string_view name)
{
    for (const Unit& unit : units) {
        if (unit.name == name) {
            return &unit;
        }
    }
    return nullptr;
}

tl::unexpected<Error> rejected(std::string_view kind, std::string_view text, std::string_view accepted)
{
    return fail(ErrorCode::invalid_input, fmt::format("\"{}\" is not a {}; write {}", text, kind, accepted));
}

constexpr std::string_view size_help =
    "a number with B, KiB, MiB, GiB, TiB (1024) or kB, MB, GB, TB (1000), as in 8MiB";
constexpr std::string_view duration_help = "a number with ns, us, ms, s, m or h, as in 5ms";
constexpr std::string_view rate_help = "a number with a size unit per second, as in 12.5GB/s";

// One decimal from 10 up, two below: at least three significant digits.
std::string three_digits(double value)
{
    return format_number(value, std::fabs(value) >= 9.995 ? 1 : 2);
}

// In the largest of these units that does not round to less than one.
template <int step>
std::pair<double, std::string_view> scaled(double value, const std::array<std::string_view, 5>& units)
{
    std::size_t unit = 0;
    while (std::fabs(value) >= step - 0.05 && unit + 1 < units.size()) {
        value /= step;
        ++unit;
    }
    return {value, units.at(unit)};
}

}  // namespace

std::string format_number(double value, int decimals)
{
    std::string text = fmt::format("{:.{}f}", std::fabs(value), decimals);
    for (std::size_t at = std::min(text.find('.'), text.size()); at > 3;) {
        at -= 3;
        text.insert(at, ",");
    }
    const bool is_zero = text.find_first_not_of("0.") == std::string::npos;
    return value < 0 && !is_zero ? "-" + text : text;
}

Expected<std::uint64_t> parse_size(std::string_view text)
{
    std::string_view rest = text;
    const auto number = take_number(rest);
    const Unit* unit = rest.empty() ? &size_units.front() : find_unit(size_units, rest);
    if (!number || unit == nullptr) {
        return rejected("size", text, size_help);
    }
    const auto bytes = whole_product(*number, unit->factor);
    if (!bytes) {
        return fail(ErrorCode::invalid_input, fmt::format("\"{}\" is not a whole number of bytes below 16 EiB", text));
    }
    return *bytes;
}

Expected<std::chrono::nanoseconds> parse_duration(std::string_view text)
{
    std::string_view rest = text;
    const auto number = take_number(rest);
    const Unit* unit = find_unit(duration_units, rest);
    if (!number || unit == nullptr) {
        return rejected("duration", text, duration_help);
    }
    const auto ns = whole_product(*number, unit->factor);
    if (!ns || *ns > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        return fail(ErrorCode::invalid_input,
                    fmt::format("\"{}\" is not a whole number of nanoseconds below 292 years", text));
    }
    return std::chrono::nanoseconds{static_cast<std::int64_t>(*ns)};
}

Expected<double> parse_rate(std::string_view text)
{
    if (text.size() < 3 || text.substr(text.size() - 2) != "/s") {
        return rejected("rate", text, rate_help);
    }
    std::string_view rest = text.substr(0, text.size() - 2);
    const auto number = take_number(rest);
    const Unit* unit = find_unit(size_units, rest);
    if (!number || unit == nullptr) {
        return rejected("rate", text, rate_help);
    }
    return static_cast<double>(number->digits) / static_cast<double>(number->scale) * static_cast<double>(unit->factor);
}

std::string format_size(double bytes)
{
    const auto [value, unit] = scaled<1024>(bytes, {"B", "KiB", "MiB", "GiB", "TiB"});
    return unit == "B" ? format_number(value, 0) + " B" : fmt::format("{} {}", three_digits(value), unit);
}

std::string format_duration(double seconds)
{
    if (std::fabs(seconds) >= 120) {
        return fmt::format("{} min", three_digits(seconds / 60));
    }
    struct Scale {
        double from;  // what would round to less than one
        double per_second;
        std::string_view unit;
    };
    constexpr std::array<Scale, 3> scales{{{0.9995, 1, "s"}, {0.9995e-3, 1e3, "ms"}, {0.9995e-6, 1e6, "us"}}};
    for (const Scale& scale : scales) {
        if (std::fabs(seconds) >= scale.from) {
            return fmt::format("{} {}", three_digits(seconds * scale.per_second), scale.unit);
        }
    }
    return seconds == 0 ? "0 s" : fmt::format("{} ns", three_digits(seconds * 1e9));
}

std::string format_rate(double bytes_per_second)
{
    const auto [value, unit] = scaled<1000>(bytes_per_second, {"B/s", "kB/s", "MB/s", "GB/s", "TB/s"});
    return fmt::format("{} {}", three_digits(value), unit);
}

std::string exact_size(std::uint64_t bytes)
{
    constexpr std::array<std::string_view, 5> names{"", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    while (bytes != 0 && bytes % 1024 == 0 && unit + 1 < names.size()) {
        bytes /= 1024;
        ++unit;
    }
    return fmt::format("{}{}", bytes, names[unit]);
}

std::string format_count(double count)
{
    constexpr double whole_from = 10'000;  // the median of an even number of counts may lie between two of them
    const bool is_whole = count == std::floor(count) || std::fabs(count) >= whole_from;
    if (!is_whole || std::fabs(count) >= 1e15) {
        return three_digits(count);
    }
    return format_number(count, 0);
}

}  // namespace memsweep::base
