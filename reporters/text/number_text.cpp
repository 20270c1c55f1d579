#include "reporters/text/number_text.hpp"

#include <charconv>
#include <chrono>
#include <cmath>
#include <system_error>

#include <fmt/format.h>

namespace memsweep::reporters {
namespace {

constexpr std::string_view shape = "0000-00-00T00:00:00";

bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// "", or ".000" with any number of digits, before the Z that must end it.
bool is_fraction_and_zone(std::string_view text)
{
    if (!text.ends_with('Z')) {
        return false;
    }
    text.remove_suffix(1);
    if (text.empty()) {
        return true;
    }
    return text.size() > 1 && text.front() == '.' && text.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

bool has_shape(std::string_view text)
{
    if (text.size() <= shape.size() || !is_fraction_and_zone(text.substr(shape.size()))) {
        return false;
    }
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (is_digit(shape[i]) ? !is_digit(text[i]) : text[i] != shape[i]) {
            return false;
        }
    }
    return true;
}

unsigned number_at(std::string_view text, std::size_t from, std::size_t digits)
{
    unsigned value = 0;
    std::from_chars(text.data() + from, text.data() + from + digits, value);
    return value;
}

double fraction(std::string_view text)
{
    double value = 0;
    text.remove_prefix(shape.size());
    text.remove_suffix(1);
    if (!text.empty()) {
        std::from_chars(text.data(), text.data() + text.size(), value);
    }
    return value;
}

}  // namespace

std::string number_text(double value)
{
    if (!std::isfinite(value)) {
        return {};
    }
    return value == 0 ? "0" : fmt::format("{}", value);
}

std::optional<double> epoch_seconds(std::string_view utc)
{
    if (!has_shape(utc)) {
        return std::nullopt;
    }
    namespace chrono = std::chrono;
    const chrono::year_month_day date{chrono::year{static_cast<int>(number_at(utc, 0, 4))},
                                      chrono::month{number_at(utc, 5, 2)}, chrono::day{number_at(utc, 8, 2)}};
    const unsigned hour = number_at(utc, 11, 2);
    const unsigned minute = number_at(utc, 14, 2);
    const unsigned second = number_at(utc, 17, 2);
    if (!date.ok() || hour > 23 || minute > 59 || second > 60) {
        return std::nullopt;
    }
    const auto days = static_cast<double>(chrono::sys_days{date}.time_since_epoch().count());
    return days * 86'400 + hour * 3'600.0 + minute * 60.0 + second + fraction(utc);
}

std::optional<std::string> seconds_part(std::string_view utc)
{
    return epoch_seconds(utc) ? std::optional{std::string{utc.substr(0, shape.size())}} : std::nullopt;
}

}  // namespace memsweep::reporters
