#include "core/measure/threshold_text.hpp"

#include <charconv>
#include <chrono>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "core/base/quantity.hpp"

namespace memsweep::measure {
namespace {

std::optional<double> decimal(std::string_view text)
{
    double value{};
    const char* end = text.data() + text.size();
    const auto [stop, problem] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
    const bool whole = problem == std::errc{} && stop == end && !text.empty() && text.front() != '-';
    return whole && std::isfinite(value) ? std::optional{value} : std::nullopt;
}

std::string_view example_amount(model::Unit unit)
{
    switch (unit) {
    case model::Unit::bytes:
        return "1MiB";
    case model::Unit::seconds:
        return "2ms";
    case model::Unit::bytes_per_second:
        return "1GB/s";
    case model::Unit::one:
    case model::Unit::per_second:
        break;
    }
    return "64";
}

base::Expected<double> parse_amount(std::string_view text, model::Unit unit)
{
    if (unit == model::Unit::bytes) {
        return base::parse_size(text).map([](std::uint64_t bytes) { return static_cast<double>(bytes); });
    }
    if (unit == model::Unit::seconds) {
        return base::parse_duration(text).map(
            [](std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); });
    }
    if (unit == model::Unit::bytes_per_second) {
        return base::parse_rate(text);
    }
    if (const auto value = decimal(text)) {
        return *value;
    }
    return base::fail(base::ErrorCode::invalid_input, fmt::format("\"{}\" is not a number", text));
}

}  // namespace

base::Expected<Threshold> parse_threshold(std::string_view text, model::Unit unit)
{
    constexpr std::size_t longest = 60;  // anything longer is no threshold; its message would only be long too
    const std::size_t comma = text.find(',');
    const std::string_view relative = text.substr(0, comma);
    const auto percent = relative.ends_with('%') ? decimal(relative.substr(0, relative.size() - 1)) : std::nullopt;
    if (!percent) {
        return base::fail(base::ErrorCode::invalid_input, fmt::format("\"{}\" is not a threshold; write 5% or 5%,{}",
                                                                      text.substr(0, longest), example_amount(unit)));
    }
    Threshold threshold{*percent / 100, 0};
    if (comma != std::string_view::npos) {
        const auto amount = parse_amount(text.substr(comma + 1).substr(0, longest), unit);
        if (!amount) {
            return base::fail(amount.error());
        }
        threshold.absolute = *amount;
    }
    return threshold;
}

}  // namespace memsweep::measure
