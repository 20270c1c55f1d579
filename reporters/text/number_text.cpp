#include "reporters/text/number_text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <ctime>

#include <fmt/format.h>

namespace memsweep::reporters {
namespace {

constexpr std::size_t whole_length = std::string_view{"0000-00-00T00:00:00"}.size();

// The fraction that "Z" stands for, or ".000Z" with any number of digits.
std::optional<double> fraction_of(std::string_view text)
{
    if (!text.ends_with('Z')) {
        return std::nullopt;
    }
    text.remove_suffix(1);
    double value = 0;
    if (text.empty()) {
        return value;
    }
    if (text.size() < 2 || text.front() != '.' || text.find_first_not_of("0123456789", 1) != std::string_view::npos) {
        return std::nullopt;
    }
    std::from_chars(text.data(), text.data() + text.size(), value);
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
    constexpr const char* shape = "%Y-%m-%dT%H:%M:%S";
    const std::string whole{utc.substr(0, whole_length)};
    const auto fraction = fraction_of(utc.substr(whole.size()));
    std::tm time{};
    if (!fraction || strptime(whole.c_str(), shape, &time) == nullptr) {
        return std::nullopt;
    }
    // What is no such day, or written otherwise, is another text when it is written again.
    const std::time_t seconds = timegm(&time);
    std::array<char, whole_length + 1> again{};
    std::strftime(again.data(), again.size(), shape, &time);
    return whole == again.data() ? std::optional{static_cast<double>(seconds) + *fraction} : std::nullopt;
}

std::optional<std::string> seconds_part(std::string_view utc)
{
    return epoch_seconds(utc) ? std::optional{std::string{utc.substr(0, whole_length)}} : std::nullopt;
}

}  // namespace memsweep::reporters
