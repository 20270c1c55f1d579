#include "core/measure/verdict.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/assert.hpp"

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

using model::Unit;

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
    CounterChange reason{observed.unit, observed.base_median, observed.candidate_median};
    if (!beyond(observed.threshold, observed.base_median, change)) {
        reason.is_allowed = true;
        return {Verdict::same, {reason}};
    }
    const bool worse = (observed.better == model::Better::lower) == (change > 0);
    return {worse ? Verdict::regressed : Verdict::improved, {reason}};
}

Judgement judge_noisy(const Observed& observed, const Shift& shift, double q)
{
    MEMSWEEP_ASSERT(shift.interval.has_value(), "the sample size was judged before");
    const Worsening change = worsening(observed, shift);
    const auto outside = [&](double value) { return beyond(observed.threshold, observed.base_median, value); };
    const auto because = [&](Shown shown) {
        return Reason{ShownShift{observed.unit, shift, observed.threshold, q, shown}};
    };
    const bool is_beyond = outside(change.estimate);
    if (is_beyond && q <= significance && (change.low > 0 || change.high < 0)) {
        return {change.low > 0 ? Verdict::regressed : Verdict::improved, because(Shown::beyond)};
    }
    if (!outside(change.low) && !outside(change.high)) {
        return {Verdict::same, because(Shown::within)};
    }
    return {Verdict::inconclusive, because(!is_beyond         ? Shown::interval_beyond
                                           : q > significance ? Shown::by_chance
                                                              : Shown::interval_of_none)};
}

std::optional<Judgement> judge_sample_size(std::size_t n, std::size_t m, std::size_t family)
{
    if (n >= min_repetitions && m >= min_repetitions && can_show(n, m, family)) {
        return std::nullopt;
    }
    return Judgement{Verdict::insufficient, {TooFewValues{n, m, family, repetitions_needed(family)}}};
}

std::size_t repetitions_needed(std::size_t family)
{
    std::size_t n = min_repetitions;
    while (!can_show(n, n, family)) {
        ++n;
    }
    return n;
}

}  // namespace memsweep::measure
