#include "reporters/wording/shift_words.hpp"

#include <cmath>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/measure/format.hpp"

namespace memsweep::reporters {
namespace {

using measure::format_difference;
using measure::format_factor;
using measure::format_percent;
using measure::format_value;
using measure::with_sign;
using model::Unit;

// Whether people would read this factor as no change.
bool reads_as_none(double factor)
{
    return factor != 1 && format_factor(factor) == format_factor(1);
}

bool reads_as_none(const measure::Shift& shift)
{
    return shift.is_ratio && reads_as_none(shift.estimate);
}

}  // namespace

std::string threshold_text(const measure::Threshold& threshold, Unit unit)
{
    std::string absolute = format_value(unit, threshold.absolute);
    if (threshold.relative <= 0) {
        return absolute;
    }
    std::string relative = format_percent(threshold.relative);
    if (std::isfinite(threshold.at_most)) {
        relative += fmt::format(", at most {}", format_value(unit, threshold.at_most));
    }
    return threshold.absolute > 0 ? fmt::format("{} and {}", relative, absolute) : relative;
}

std::string factor_text(double factor)
{
    const double distance = std::fabs(factor - 1);
    if (distance < 0.00005 || distance >= 0.005) {
        return format_factor(factor);
    }
    return distance < 0.0005 ? fmt::format("{:.4f}", factor) : fmt::format("{:.3f}", factor);
}

std::string signed_change(Unit unit, bool is_ratio, double value, int digits)
{
    if (!is_ratio) {
        return format_difference(unit, value);
    }
    const double percent = (value - 1) * 100;
    return value >= 2 ? format_factor(value) + "x" : with_sign(percent, base::format_number(percent, digits) + " %");
}

std::string signed_shift(Unit unit, const measure::Shift& shift)
{
    const auto shown = [&](double value) { return signed_change(unit, shift.is_ratio, value, 1); };
    if (!shift.interval) {
        return shown(shift.estimate);
    }
    return fmt::format("{} (95 % interval {} to {})", shown(shift.estimate), shown((*shift.interval)[0]),
                       shown((*shift.interval)[1]));
}

std::string brief_shift_text(Unit unit, const measure::Shift& shift, double base_median)
{
    if (!shift.is_ratio) {
        return format_difference(unit, shift.estimate);
    }
    return reads_as_none(shift) ? format_difference(unit, (shift.estimate - 1) * base_median)
                                : format_factor(shift.estimate) + "x";
}

std::string instead_of(Unit unit, double base_median, double candidate_median)
{
    std::string to = format_value(unit, candidate_median);
    return base_median != 0 && reads_as_none(candidate_median / base_median)
               ? fmt::format("{} ({})", format_difference(unit, candidate_median - base_median), to)
               : fmt::format("{} instead of {}", to, format_value(unit, base_median));
}

std::string shift_text(Unit unit, const measure::Shift& shift, double base_median, double candidate_median)
{
    if (!shift.interval) {
        return instead_of(unit, base_median, candidate_median);
    }
    if (reads_as_none(shift)) {
        const auto percent = [&](double value) { return signed_change(unit, true, value, 2); };
        return fmt::format("{} (95 % interval {} to {})", percent(shift.estimate), percent((*shift.interval)[0]),
                           percent((*shift.interval)[1]));
    }
    const auto shown = [&](double value) {
        return shift.is_ratio ? format_factor(value) : format_difference(unit, value);
    };
    return fmt::format("{}{} (95 % interval {} to {})", shown(shift.estimate), shift.is_ratio ? "x" : "",
                       shown((*shift.interval)[0]), shown((*shift.interval)[1]));
}

}  // namespace memsweep::reporters
