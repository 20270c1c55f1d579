#include "core/measure/verdict.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "core/base/assert.hpp"
#include "core/measure/format.hpp"
#include "core/measure/nonparametric.hpp"

namespace memsweep::model {

using measure::Verdict;

template <>
std::span<const Named<Verdict>> names<Verdict>()
{
    static constexpr std::array<Named<Verdict>, 11> table{{
        {Verdict::regressed, "regressed", "worse beyond the threshold, and not by chance"},
        {Verdict::improved, "improved", "better beyond the threshold, and not by chance"},
        {Verdict::same, "same", "no change beyond the threshold"},
        {Verdict::inconclusive, "inconclusive", "too noisy to tell a change from none"},
        {Verdict::insufficient, "insufficient", "too few repetitions to show any change"},
        {Verdict::added, "added", "only the candidate has it"},
        {Verdict::missing, "missing", "only the base has it"},
        {Verdict::newly_failing, "newly-failing", "ran in the base, fails in the candidate"},
        {Verdict::fixed, "fixed", "failed in the base, runs in the candidate"},
        {Verdict::not_comparable, "not-comparable", "measured differently, or not measured on one side"},
        {Verdict::informational, "informational", "shown, never judged"},
    }};
    return table;
}

}  // namespace memsweep::model

namespace memsweep::measure {
namespace {

// A change in the metric's unit, positive when worse.
struct Worsening {
    double estimate{};
    double low{};
    double high{};
};

Worsening worsening(const Observed& observed, const Shift& shift)
{
    const double scale = shift.is_ratio ? observed.base_median : 1;
    const double none = shift.is_ratio ? 1 : 0;
    const auto in_unit = [&](double value) { return (value - none) * scale; };
    Worsening change{in_unit(shift.estimate), in_unit((*shift.interval)[0]), in_unit((*shift.interval)[1])};
    if (observed.better == model::Better::higher) {
        change = {-change.estimate, -change.high, -change.low};
    }
    return change;
}

std::string signed_change(const Observed& observed, const Shift& shift, double value)
{
    if (shift.is_ratio) {
        return value >= 2 ? format_factor(value) + "x" : fmt::format("{:+.1f} %", (value - 1) * 100);
    }
    return format_difference(observed.unit, value);
}

std::string interval_text(const Observed& observed, const Shift& shift)
{
    return fmt::format("{} to {}", signed_change(observed, shift, (*shift.interval)[0]),
                       signed_change(observed, shift, (*shift.interval)[1]));
}

std::string shown_change(const Observed& observed, const Shift& shift)
{
    return fmt::format("{} (95 % interval {})", signed_change(observed, shift, shift.estimate),
                       interval_text(observed, shift));
}

std::string doubt(const Observed& observed, bool beyond_threshold, double q)
{
    const std::string allowed = to_text(observed.threshold, observed.unit);
    if (!beyond_threshold) {
        return fmt::format("within the {} allowed, but the interval reaches beyond", allowed);
    }
    return q > significance ? fmt::format("more than the {} allowed, but chance could do it (q = {:.2g})", allowed, q)
                            : fmt::format("more than the {} allowed, but the interval reaches no change", allowed);
}

// Two values of an exact counter; in full where rounding would hide that they differ.
std::string instead_of(const Observed& observed)
{
    const std::string to = format_value(observed.unit, observed.candidate_median);
    const std::string from = format_value(observed.unit, observed.base_median);
    if (to != from) {
        return fmt::format("{} instead of {}", to, from);
    }
    return fmt::format("{} instead of {} {}", observed.candidate_median, observed.base_median,
                       model::name_of(observed.unit));
}

bool can_show(std::size_t n, std::size_t m, std::size_t family)
{
    return min_p(n, m) * static_cast<double>(family) <= significance;
}

}  // namespace

bool gates(Verdict verdict)
{
    return verdict == Verdict::regressed || verdict == Verdict::newly_failing;
}

Judgement judge_exact(const Observed& observed)
{
    const double change = observed.candidate_median - observed.base_median;
    const std::string shown = instead_of(observed);
    if (!beyond(observed.threshold, observed.base_median, change)) {
        return {Verdict::same, change != 0 ? shown + ", which is allowed" : std::string{"no change"}};
    }
    const bool worse = (observed.better == model::Better::lower) == (change > 0);
    return {worse ? Verdict::regressed : Verdict::improved, shown + "; this counter is exact, so any change is real"};
}

Judgement judge_noisy(const Observed& observed, const Shift& shift, double q)
{
    MEMSWEEP_ASSERT(shift.interval.has_value(), "the sample size was judged before");
    const Worsening change = worsening(observed, shift);
    const auto outside = [&](double value) { return beyond(observed.threshold, observed.base_median, value); };
    const std::string shown = shown_change(observed, shift);
    const bool shows = outside(change.estimate) && q <= significance;
    if (shows && (change.low > 0 || change.high < 0)) {
        return {change.low > 0 ? Verdict::regressed : Verdict::improved,
                fmt::format("{}, more than the {} allowed; q = {:.2g}", shown,
                            to_text(observed.threshold, observed.unit), q)};
    }
    if (!outside(change.low) && !outside(change.high)) {
        return {Verdict::same,
                fmt::format("{}, within the {} allowed", shown, to_text(observed.threshold, observed.unit))};
    }
    return {Verdict::inconclusive, fmt::format("{}: {}", shown, doubt(observed, outside(change.estimate), q))};
}

std::optional<Judgement> judge_sample_size(std::size_t n, std::size_t m, std::size_t family)
{
    if (n >= min_repetitions && m >= min_repetitions && can_show(n, m, family)) {
        return std::nullopt;
    }
    return Judgement{
        Verdict::insufficient,
        fmt::format("{} against {} repetitions; to show a change among {} noisy metric{}, {} of each are needed", n, m,
                    family, family == 1 ? "" : "s", repetitions_needed(family))};
}

std::size_t repetitions_needed(std::size_t family)
{
    std::size_t n = min_repetitions;
    while (!can_show(n, n, family)) {
        ++n;
    }
    return n;
}

std::string shift_text(model::Unit unit, const Shift& shift, double base_median, double candidate_median)
{
    if (!shift.interval) {
        return fmt::format("{} instead of {}", format_value(unit, candidate_median), format_value(unit, base_median));
    }
    const auto shown = [&](double value) {
        return shift.is_ratio ? format_factor(value) : format_difference(unit, value);
    };
    return fmt::format("{}{} (95 % interval {} to {})", shown(shift.estimate), shift.is_ratio ? "x" : "",
                       shown((*shift.interval)[0]), shown((*shift.interval)[1]));
}

}  // namespace memsweep::measure
