#include "reporters/document/picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>

#include <fmt/format.h>

#include "reporters/document/chart.hpp"

namespace memsweep::reporters {
namespace {

constexpr int most_marks = 8;

// The least of 1, 2 and 5 times a power of ten, or of two for bytes, that makes no more than six steps.
double round_step(model::Unit unit, double span)
{
    constexpr double most_steps = 6;
    const double least = span / most_steps;
    if (unit == model::Unit::bytes && least >= 1) {
        return std::exp2(std::ceil(std::log2(least)));
    }
    const double decade = std::pow(10, std::floor(std::log10(least)));
    constexpr std::array steps{1.0, 2.0, 5.0, 10.0};
    return decade * *std::ranges::find_if(steps, [&](double step) { return step * decade >= least * 0.999; });
}

std::vector<double> in_steps(model::Unit unit, double from, double to)
{
    const double step = round_step(unit, to - from);
    std::vector<double> marks;
    for (double at = std::ceil(from / step); at * step <= to; ++at) {
        marks.push_back(at * step);
    }
    return marks;
}

// Every second, third, ... of marks that are too many.
std::vector<double> in_powers_of_ten(double from, double to, std::initializer_list<double> factors)
{
    std::vector<double> marks;
    for (double power = std::floor(std::log10(from)); std::pow(10, power) <= to; ++power) {
        for (const double factor : factors) {
            const double at = std::pow(10, power) * factor;
            if (at >= from && at <= to) {
                marks.push_back(at);
            }
        }
    }
    const std::size_t every = (marks.size() + std::size_t{most_marks} - 1) / most_marks;
    std::vector<double> kept;
    for (std::size_t i = 0; i < marks.size(); i += every) {
        kept.push_back(marks[i]);
    }
    return kept;
}

// In steps that meet at 1 KiB, 1 MiB, ...
std::vector<double> in_powers_of_two(double from, double to)
{
    constexpr std::array doublings{1, 2, 5, 10, 20, 50};
    const double first = std::ceil(std::log2(from));
    const double last = std::floor(std::log2(to));
    const auto* const round =
        std::ranges::find_if(doublings, [&](int one) { return (last - first) / one < most_marks; });
    const double step = round != doublings.end() ? *round : std::ceil((last - first) / (most_marks - 1));
    std::vector<double> marks;
    for (double power = std::ceil(first / step) * step; power <= last; power += step) {
        marks.push_back(std::exp2(power));
    }
    return marks;
}

std::vector<double> marks_of(const DotPicture& picture)
{
    if (!std::isfinite(picture.from) || !std::isfinite(picture.to) || picture.from >= picture.to ||
        (picture.is_log && picture.from <= 0)) {
        return {};
    }
    return picture.is_log ? log_marks(picture.unit, picture.from, picture.to)
                          : in_steps(picture.unit, picture.from, picture.to);
}

}  // namespace

std::vector<double> log_marks(model::Unit unit, double from, double to)
{
    constexpr double least_log = 5;  // below this factor between the ends even steps are even enough
    constexpr double most_with_parts = 100;
    const double span = to / from;
    if (from <= 0 || to <= from || !std::isfinite(to) || !std::isfinite(span)) {
        return {};
    }
    if (span < least_log) {
        return in_steps(unit, from, to);
    }
    if (unit == model::Unit::bytes) {
        return in_powers_of_two(from, to);
    }
    return span < most_with_parts ? in_powers_of_ten(from, to, {1, 2, 5}) : in_powers_of_ten(from, to, {1});
}

std::vector<AxisMark> axis_marks(const DotPicture& picture)
{
    std::vector<AxisMark> marks;
    for (const double at : marks_of(picture)) {
        const ChartUnit unit = chart_unit(picture.unit, at * 1.0001);
        marks.push_back(
            {at, at == 0 ? "0" : fmt::format("{:.4g}{}{}", at / unit.factor, unit.name.empty() ? "" : " ", unit.name)});
    }
    return marks;
}

}  // namespace memsweep::reporters
