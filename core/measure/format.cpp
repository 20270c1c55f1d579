#include "core/measure/format.hpp"

#include <algorithm>

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

std::string format_difference(Unit unit, double difference)
{
    return (difference > 0 ? "+" : "") + format_value(unit, difference);
}

std::string format_percent(double fraction)
{
    return fmt::format("{:.3g} %", fraction * 100);
}

std::string format_factor(double factor)
{
    if (factor >= 9.95) {
        return fmt::format("{:.0f}", factor);
    }
    if (factor >= 1.995) {
        return fmt::format("{:.1f}", factor);
    }
    return factor >= 0.0995 ? fmt::format("{:.2f}", factor) : fmt::format("{:.2g}", factor);
}

std::string counted(std::uint64_t count, std::string_view noun)
{
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
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
