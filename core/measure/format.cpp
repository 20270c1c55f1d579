#include "core/measure/format.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/quantity.hpp"

namespace memsweep::measure {

using model::Unit;

std::string format_value(Unit unit, double value)
{
    switch (unit) {
    case Unit::bytes:
        return base::format_size(value);
    case Unit::seconds:
        return base::format_duration(value);
    case Unit::bytes_per_second:
        return base::format_rate(value);
    case Unit::per_second:
        return base::format_count(value) + " op/s";
    case Unit::one:
        break;
    }
    return base::format_count(value);
}

std::string with_sign(double change, std::string text)
{
    const bool is_zero = text.find_first_of("123456789") == std::string::npos;
    return change > 0 && !is_zero ? "+" + std::move(text) : std::move(text);
}

std::string format_difference(Unit unit, double difference)
{
    return with_sign(difference, format_value(unit, difference));
}

std::string format_percent(double fraction)
{
    const double percent = fraction * 100;
    return percent >= 999.5 ? base::format_number(percent, 0) + " %" : fmt::format("{:.3g} %", percent);
}

std::string whole_percent(double share)
{
    return base::format_number(share * 100, 0) + " %";
}

std::string format_factor(double factor)
{
    if (factor >= 9.95) {
        return base::format_number(factor, 0);
    }
    if (factor >= 1.995) {
        return fmt::format("{:.1f}", factor);
    }
    return factor >= 0.0995 ? fmt::format("{:.2f}", factor) : fmt::format("{:.2g}", factor);
}

std::string counted(std::uint64_t count, std::string_view noun)
{
    return fmt::format("{} {}{}", base::format_count(static_cast<double>(count)), noun, count == 1 ? "" : "s");
}

std::string version_text(const model::ToolInfo& tool)
{
    return tool.version + (tool.commit.empty() ? "" : fmt::format(" ({:.12})", tool.commit));
}

std::string processor_text(const model::Machine& machine)
{
    return fmt::format("{}, {}", machine.cpu.empty() ? "unknown processor" : machine.cpu,
                       counted(machine.cores, "core"));
}

std::string spoken(std::string name)
{
    std::ranges::replace(name, '_', ' ');
    return name;
}

}  // namespace memsweep::measure
