#include "reporters/document/picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "reporters/document/chart.hpp"

namespace memsweep::reporters {
namespace {

constexpr std::size_t most_marks = 8;

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

std::vector<double> in_steps(const DotPicture& picture)
{
    const double step = round_step(picture.unit, picture.to - picture.from);
    std::vector<double> marks;
    for (double at = std::ceil(picture.from / step); at * step <= picture.to; ++at) {
        marks.push_back(at * step);
    }
    return marks;
}

// Powers of `base` times each factor; of too many every second, third, ...
std::vector<double> in_powers(const DotPicture& picture, double base, const std::vector<double>& factors)
{
    std::vector<double> marks;
    const double first = std::floor(std::log(picture.from) / std::log(base));
    for (double power = first; std::pow(base, power) <= picture.to; ++power) {
        for (const double factor : factors) {
            const double at = std::pow(base, power) * factor;
            if (at >= picture.from && at <= picture.to) {
                marks.push_back(at);
            }
        }
    }
    const std::size_t every = (marks.size() + most_marks - 1) / most_marks;
    std::vector<double> kept;
    for (std::size_t i = 0; i < marks.size(); i += every) {
        kept.push_back(marks[i]);
    }
    return kept;
}

std::vector<double> marks_of(const DotPicture& picture)
{
    constexpr double least_log = 10;  // below this factor between the ends even steps are even enough
    constexpr double most_with_parts = 400;
    if (!std::isfinite(picture.from) || !std::isfinite(picture.to) || picture.from >= picture.to ||
        (picture.is_log && picture.from <= 0)) {
        return {};
    }
    const double span = picture.to / picture.from;
    if (!picture.is_log || span < least_log) {
        return in_steps(picture);
    }
    if (picture.unit == model::Unit::bytes) {
        return in_powers(picture, 2, {1});
    }
    return span < most_with_parts ? in_powers(picture, 10, {1, 2, 5}) : in_powers(picture, 10, {1});
}

}  // namespace

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
