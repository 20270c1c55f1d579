#include "reporters/document/chart_numbers.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <span>

#include <fmt/format.h>

namespace memsweep::reporters {
namespace {

// Largest first.
constexpr std::array<ChartUnit, 5> sizes{
    {{"TiB", 0x1p40}, {"GiB", 0x1p30}, {"MiB", 0x1p20}, {"KiB", 0x1p10}, {"B", 1}}};
constexpr std::array<ChartUnit, 4> times{{{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}}};
constexpr std::array<ChartUnit, 4> rates{{{"GB/s", 1e9}, {"MB/s", 1e6}, {"kB/s", 1e3}, {"B/s", 1}}};
constexpr std::array<ChartUnit, 1> operations{{{"op/s", 1}}};
constexpr std::array<ChartUnit, 1> counts{{{"", 1}}};

std::span<const ChartUnit> units_of(model::Unit unit)
{
    switch (unit) {
    case model::Unit::bytes:
        return sizes;
    case model::Unit::seconds:
        return times;
    case model::Unit::bytes_per_second:
        return rates;
    case model::Unit::per_second:
        return operations;
    case model::Unit::one:
        break;
    }
    return counts;
}

}  // namespace

ChartUnit chart_unit(model::Unit unit, double largest)
{
    const std::span<const ChartUnit> units = units_of(unit);
    for (const ChartUnit& one : units) {
        if (largest >= one.factor) {
            return one;
        }
    }
    return units.back();
}

Json chart_number(double value)
{
    if (!std::isfinite(value)) {
        return nullptr;
    }
    const std::string text = fmt::format("{:.6g}", value);
    double rounded = 0;
    std::from_chars(text.data(), text.data() + text.size(), rounded);
    return rounded;
}

std::string_view axis_label(model::Unit unit)
{
    switch (unit) {
    case model::Unit::bytes:
        return "datum.value >= 1073741824 ? format(datum.value / 1073741824, '.4~g') + ' GiB' : "
               "datum.value >= 1048576 ? format(datum.value / 1048576, '.4~g') + ' MiB' : "
               "datum.value >= 1024 ? format(datum.value / 1024, '.4~g') + ' KiB' : datum.value + ' B'";
    case model::Unit::seconds:
        return "datum.value >= 1 ? format(datum.value, '.4~g') + ' s' : "
               "datum.value >= 1e-3 ? format(datum.value * 1e3, '.4~g') + ' ms' : "
               "datum.value >= 1e-6 ? format(datum.value * 1e6, '.4~g') + ' us' : "
               "format(datum.value * 1e9, '.4~g') + ' ns'";
    case model::Unit::bytes_per_second:
        return "datum.value >= 1e9 ? format(datum.value / 1e9, '.4~g') + ' GB/s' : "
               "datum.value >= 1e6 ? format(datum.value / 1e6, '.4~g') + ' MB/s' : "
               "format(datum.value / 1e3, '.4~g') + ' kB/s'";
    case model::Unit::per_second:
        return "format(datum.value, '.4~s') + ' op/s'";
    case model::Unit::one:
        break;
    }
    return "format(datum.value, ',.4~g')";
}

}  // namespace memsweep::reporters
