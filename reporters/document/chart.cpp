#include "reporters/document/chart.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

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

struct UnitOnAxes {
    model::Unit unit;
    std::span<const ChartUnit> scales;
    std::string_view label;  // a Vega expression
};
constexpr std::array<UnitOnAxes, 5> units_on_axes{{
    {model::Unit::bytes, sizes,
     "datum.value >= 1073741824 ? format(datum.value / 1073741824, '.4~g') + ' GiB' : "
     "datum.value >= 1048576 ? format(datum.value / 1048576, '.4~g') + ' MiB' : "
     "datum.value >= 1024 ? format(datum.value / 1024, '.4~g') + ' KiB' : datum.value + ' B'"},
    {model::Unit::seconds, times,
     "datum.value >= 1 ? format(datum.value, '.4~g') + ' s' : "
     "datum.value >= 1e-3 ? format(datum.value * 1e3, '.4~g') + ' ms' : "
     "datum.value >= 1e-6 ? format(datum.value * 1e6, '.4~g') + ' us' : "
     "format(datum.value * 1e9, '.4~g') + ' ns'"},
    {model::Unit::bytes_per_second, rates,
     "datum.value >= 1e9 ? format(datum.value / 1e9, '.4~g') + ' GB/s' : "
     "datum.value >= 1e6 ? format(datum.value / 1e6, '.4~g') + ' MB/s' : "
     "format(datum.value / 1e3, '.4~g') + ' kB/s'"},
    {model::Unit::per_second, operations, "format(datum.value, '.4~s') + ' op/s'"},
    {model::Unit::one, counts, "format(datum.value, ',.4~g')"},
}};

const UnitOnAxes& on_axes(model::Unit unit)
{
    return *std::ranges::find(units_on_axes, unit, &UnitOnAxes::unit);
}

// The lowest and the highest of values[first, last), in the order in which they come.
void append_extremes(std::span<const double> values, std::size_t first, std::size_t last,
                     std::vector<std::size_t>& kept)
{
    std::size_t low = last;
    std::size_t high = last;
    for (std::size_t i = first; i < last; ++i) {
        if (std::isfinite(values[i])) {
            low = low == last || values[i] < values[low] ? i : low;
            high = high == last || values[i] > values[high] ? i : high;
        }
    }
    if (low != last) {
        kept.push_back(std::min(low, high));
    }
    if (low != high) {
        kept.push_back(std::max(low, high));
    }
}

}  // namespace

ChartUnit chart_unit(model::Unit unit, double largest)
{
    const std::span<const ChartUnit> units = on_axes(unit).scales;
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
    return on_axes(unit).label;
}

Json axis_from_zero(model::Unit unit, double largest)
{
    constexpr double most_steps = 6;
    constexpr double most_in_units = 0x1p50;
    Json axis{{"labelExpr", axis_label(unit)}};
    if (unit != model::Unit::bytes || largest < most_steps || largest > most_in_units) {
        axis["tickCount"] = 6;
        return axis;
    }
    // In the unit of a step: 0.2 MiB is no round number of KiB.
    constexpr std::array steps{1, 2, 5, 10, 20, 50, 100, 128, 256, 512, 1024};
    const double least_step = largest / most_steps;
    const double factor = chart_unit(unit, least_step).factor;
    const auto* const step = std::ranges::find_if(steps, [&](int one) { return one * factor >= least_step; });
    Json values = Json::array();
    for (double mark = 0; mark <= largest; mark += *step * factor) {
        values.push_back(mark);
    }
    axis["values"] = std::move(values);
    return axis;
}

LogAxis log_axis(model::Unit unit, double least, double largest, double least_span)
{
    constexpr double beyond = 1.02;  // at each end
    LogAxis made{.axis = {{"labelExpr", axis_label(unit)}}, .domain = nullptr};
    if (least <= 0 || largest < least || !std::isfinite(largest * least_span)) {
        return made;
    }
    const double factor = std::max(beyond, std::sqrt(least_span * (least / largest)));
    const double from = least / factor;
    const double to = largest * factor;
    const auto number = [&](double at) {
        return unit == model::Unit::bytes ? Json(at) : chart_number(at);  // 1 MiB has seven digits
    };
    Json values = Json::array();
    for (const double mark : log_marks(unit, from, to)) {
        values.push_back(number(mark));
    }
    made.axis["values"] = std::move(values);
    made.domain = {number(from), number(to)};
    return made;
}

std::vector<std::size_t> thinned(std::span<const double> values, std::size_t limit)
{
    std::vector<std::size_t> kept;
    if (values.size() <= limit) {
        kept.resize(values.size());
        std::iota(kept.begin(), kept.end(), std::size_t{0});
        return kept;
    }
    const std::size_t inner = values.size() - 2;
    const std::size_t stretches = limit / 2 - 1;
    kept.push_back(0);
    for (std::size_t i = 0; i < stretches; ++i) {
        append_extremes(values, 1 + inner * i / stretches, 1 + inner * (i + 1) / stretches, kept);
    }
    kept.push_back(values.size() - 1);
    return kept;
}

}  // namespace memsweep::reporters
