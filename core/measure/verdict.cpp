#include "core/measure/verdict.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "core/base/assert.hpp"
#include "core/base/quantity.hpp"
#include "core/measure/format.hpp"
#include "core/model/metric_id.hpp"

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

constexpr double mebibyte = 1024.0 * 1024.0;

// A program's sizes are exact and yet follow what is not the program's: the length of its own name, of a folder's.
constexpr Threshold exact_size{.relative = 0.001, .absolute = 0, .at_most = 4096};

struct NamedThreshold {
    std::string_view metric;
    Threshold threshold;
};
// Times of one event lie between two readings of the clock, which take some 20 ns each and come in steps: draining
// nothing takes 50 to 150 ns, and no 5 % of that is a change.
constexpr Threshold one_event{0.05, 100e-9};
constexpr std::array<NamedThreshold, 5> named{{{model::metrics::minor_faults, {0.02, 64}},
                                               {model::metrics::faults_over_expected, {0.02, 64}},
                                               {model::metrics::faults_per_op, {0.02, 1}},
                                               {model::metrics::major_faults, {0, 1}},
                                               {model::metrics::queue_depth_peak, {0.05, 1}}}};

std::string_view without_point(std::string_view metric)
{
    return metric.substr(metric.rfind('.') + 1);  // npos + 1 is 0
}

std::optional<double> decimal(std::string_view text)
{
    double value{};
    const char* end = text.data() + text.size();
    const auto [stop, problem] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
    const bool whole = problem == std::errc{} && stop == end && !text.empty() && text.front() != '-';
    return whole && std::isfinite(value) ? std::optional{value} : std::nullopt;
}

std::string_view example_amount(Unit unit)
{
    switch (unit) {
    case Unit::bytes:
        return "1MiB";
    case Unit::seconds:
        return "2ms";
    case Unit::bytes_per_second:
        return "1GB/s";
    case Unit::one:
    case Unit::per_second:
        break;
    }
    return "64";
}

base::Expected<double> parse_amount(std::string_view text, Unit unit)
{
    if (unit == Unit::bytes) {
        return static_cast<double>(MEMSWEEP_TRY(base::parse_size(text)));
    }
    if (unit == Unit::seconds) {
        return std::chrono::duration<double>{MEMSWEEP_TRY(base::parse_duration(text))}.count();
    }
    if (unit == Unit::bytes_per_second) {
        return base::parse_rate(text);
    }
    if (const auto value = decimal(text)) {
        return *value;
    }
    return base::fail(base::ErrorCode::invalid_input, fmt::format("\"{}\" is not a number", text));
}

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

std::string shown_change(const Observed& observed, const Shift& shift)
{
    const auto shown = [&](double value) { return signed_change(observed.unit, shift.is_ratio, value, 1); };
    return fmt::format("{} (95 % interval {} to {})", shown(shift.estimate), shown((*shift.interval)[0]),
                       shown((*shift.interval)[1]));
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

// Whether people would read this factor as no change.
bool reads_as_none(double factor)
{
    return factor != 1 && format_factor(factor) == format_factor(1);
}

bool reads_as_none(const Shift& shift)
{
    return shift.is_ratio && reads_as_none(shift.estimate);
}

// "... instead of ...". Where rounding would hide that the two values differ, the text says by how much they do.
std::string instead_of(Unit unit, double base_median, double candidate_median)
{
    std::string to = format_value(unit, candidate_median);
    return base_median != 0 && reads_as_none(candidate_median / base_median)
               ? fmt::format("{} ({})", format_difference(unit, candidate_median - base_median), to)
               : fmt::format("{} instead of {}", to, format_value(unit, base_median));
}

bool can_show(std::size_t n, std::size_t m, std::size_t family)
{
    return min_p(n, m) * static_cast<double>(family) <= significance;
}

}  // namespace

Threshold default_threshold(std::string_view metric, Unit unit, model::MetricClass metric_class)
{
    if (metric_class == model::MetricClass::exact) {
        return unit == Unit::bytes ? exact_size : Threshold{};
    }
    if (unit == Unit::bytes) {
        return {0.02, mebibyte};
    }
    if (is_of_one_event(metric)) {
        return one_event;
    }
    const auto* found = std::ranges::find(named, without_point(metric), &NamedThreshold::metric);
    return found == named.end() ? Threshold{0.05, 0} : found->threshold;
}

bool is_of_one_event(std::string_view metric)
{
    return model::role_of(without_point(metric)) == model::Role::event;
}

Threshold threshold_for(const Thresholds& chosen, std::string_view metric, Unit unit, model::MetricClass metric_class)
{
    const auto found = chosen.find(metric);
    return found == chosen.end() ? default_threshold(metric, unit, metric_class) : found->second;
}

bool beyond(const Threshold& threshold, double base, double change)
{
    const double size = std::fabs(change);
    return size > std::min(threshold.relative * std::fabs(base), threshold.at_most) && size >= threshold.absolute &&
           size > 0;
}

std::string to_text(const Threshold& threshold, Unit unit)
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

base::Expected<Threshold> parse_threshold(std::string_view text, Unit unit)
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
        threshold.absolute = MEMSWEEP_TRY(parse_amount(text.substr(comma + 1).substr(0, longest), unit));
    }
    return threshold;
}

bool gates(Verdict verdict)
{
    return verdict == Verdict::regressed || verdict == Verdict::newly_failing;
}

Judgement judge_exact(const Observed& observed)
{
    const double change = observed.candidate_median - observed.base_median;
    const std::string shown = instead_of(observed.unit, observed.base_median, observed.candidate_median);
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
    return Judgement{Verdict::insufficient,
                     fmt::format("{} against {} repetitions; to show a change among {}, {} of each are needed", n, m,
                                 counted(family, "noisy metric"), repetitions_needed(family))};
}

std::size_t repetitions_needed(std::size_t family)
{
    std::size_t n = min_repetitions;
    while (!can_show(n, n, family)) {
        ++n;
    }
    return n;
}

std::string signed_change(Unit unit, bool is_ratio, double value, int digits)
{
    if (!is_ratio) {
        return format_difference(unit, value);
    }
    const double percent = (value - 1) * 100;
    return value >= 2 ? format_factor(value) + "x" : with_sign(percent, base::format_number(percent, digits) + " %");
}

std::string brief_shift_text(Unit unit, const Shift& shift, double base_median)
{
    if (!shift.is_ratio) {
        return format_difference(unit, shift.estimate);
    }
    return reads_as_none(shift) ? format_difference(unit, (shift.estimate - 1) * base_median)
                                : format_factor(shift.estimate) + "x";
}

std::string shift_text(Unit unit, const Shift& shift, double base_median, double candidate_median)
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

}  // namespace memsweep::measure
