#include "core/trace/import/log_clock.hpp"

#include "core/base/text.hpp"

namespace memsweep::trace {
namespace {

constexpr std::uint64_t day_ns = 86'400'000'000'000;

// What follows a decimal point, in nanoseconds.
std::optional<std::uint64_t> fraction_ns(std::string_view digits)
{
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < 9; ++i) {
        const char digit = i < digits.size() ? digits[i] : '0';
        if (digit < '0' || digit > '9') {
            return std::nullopt;
        }
        value = value * 10 + static_cast<unsigned>(digit - '0');
    }
    return value;
}

}  // namespace

std::optional<std::uint64_t> time_ns(std::string_view text, bool& is_time_of_day)
{
    is_time_of_day = text.size() >= 8 && text[2] == ':' && text[5] == ':';
    if (is_time_of_day) {
        const auto hours = base::parse_number(text.substr(0, 2));
        const auto minutes = base::parse_number(text.substr(3, 2));
        const auto seconds = base::parse_number(text.substr(6, 2));
        const auto fraction = fraction_ns(text.size() > 9 ? text.substr(9) : std::string_view{});
        if (!hours || !minutes || !seconds || !fraction || (text.size() > 8 && text[8] != '.' && text[8] != ':')) {
            return std::nullopt;
        }
        return (*hours * 3600 + *minutes * 60 + *seconds) * 1'000'000'000 + *fraction;
    }
    const auto seconds = base::parse_number(base::take_until(text, '.'));
    const auto fraction = fraction_ns(text);
    if (!seconds || !fraction || *seconds > 10'000'000'000) {
        return std::nullopt;
    }
    return *seconds * 1'000'000'000 + *fraction;
}

std::uint64_t LogClock::read(std::string_view text)
{
    bool is_time_of_day = false;
    const auto time = time_ns(text, is_time_of_day);
    if (!time) {
        return last_;
    }
    if (is_time_of_day && *time + days_ + day_ns / 2 < last_) {
        days_ += day_ns;
    }
    return last_ = *time + (is_time_of_day ? days_ : 0);
}

}  // namespace memsweep::trace
