// What counts as a change, and what a comparison comes to: one word, and the sentence that explains it.
//
// Units    relative thresholds: a fraction of the base's median; absolute ones: the metric's unit.
// Sources  effect size, significance and interval together, never one of them alone. With runs drifting by up to 2 %
//          each, U alone gave 58 % false alarms at 1 % noise and 19 % at 3 %; all three together gave 0.01 % and 1.8 %
//          (20,000 simulated pairs of 10 repetitions).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/expected.hpp"
#include "core/measure/statistics.hpp"
#include "core/model/metric.hpp"
#include "core/model/names.hpp"

namespace memsweep::model {
struct CaseReport;
}

namespace memsweep::measure {

// How large a change must be before it matters: relative and absolute at once, so that 1 page fault becoming 2 is not
// reported as "+100 %". `at_most` ends what the relative part allows: 0.1 % of a gigabyte are too many to forgive.
struct Threshold {
    double relative{};
    double absolute{};
    double at_most{std::numeric_limits<double>::infinity()};
};

// Thresholds by the name of the metric, or POINT.METRIC for a named point. A metric that is not named keeps its
// default.
using Thresholds = std::map<std::string, Threshold, std::less<>>;

// Times and bandwidths 5 %; noisy sizes (working set) 2 % and 1 MiB; minor faults 2 % and 64; faults per array 2 % and
// 1; major faults 1; queue depth 5 % and 1; exact sizes 0.1 % but at most 4 KiB; other exact counters 0.
[[nodiscard]] Threshold default_threshold(std::string_view metric, model::Unit unit, model::MetricClass metric_class);
// Times of one event, as opposed to those of all that a case does: a latency, a pause.
[[nodiscard]] bool is_of_one_event(std::string_view metric);
[[nodiscard]] Threshold threshold_for(const Thresholds& chosen, std::string_view metric, model::Unit unit,
                                      model::MetricClass metric_class);

// True when the change is more than the relative threshold, or than `at_most` if that is less, and at least the
// absolute one, and not 0.
[[nodiscard]] bool beyond(const Threshold& threshold, double base, double change);

// "2 % and 1.00 MiB", "5 %", "0.1 %, at most 4.00 KiB", "1", or "0" when every change counts.
[[nodiscard]] std::string to_text(const Threshold& threshold, model::Unit unit);

// A threshold as people write it: "5%", "2%,1MiB", "0%,64".
//
// Grammar  PERCENT "%" ["," AMOUNT]; the percentage is a decimal number without a sign, the amount is in the metric's
//          unit: a size, a duration, a rate, or a plain number for counts.
// Errors   invalid_input: what does not parse, and what would.
[[nodiscard]] base::Expected<Threshold> parse_threshold(std::string_view text, model::Unit unit);

enum class Verdict : std::uint8_t {
    regressed,     // worse beyond the threshold, significant, the interval wholly on the worse side
    improved,      // its mirror
    same,          // the interval lies within the threshold
    inconclusive,  // measured, but neither could be shown
    insufficient,  // so few repetitions that nothing could be shown
    added,
    missing,
    newly_failing,
    fixed,
    not_comparable,
    informational,  // shown, never judged
};

// True for the verdicts that make `compare` fail: regressed and newly_failing.
[[nodiscard]] bool gates(Verdict verdict);

inline constexpr double significance = 0.05;       // for q, the adjusted p value
inline constexpr std::size_t min_repetitions = 5;  // below, the smallest p is 0.029 and no family survives

// What a metric came to in one case or result, as far as it is known, and beside another.
struct MetricEffect {
    std::string metric{};  // empty: of the whole case
    model::Unit unit{};
    std::optional<double> value{}, base_value{};  // in `unit`
    std::optional<Shift> effect{};                // value against base_value
    std::optional<Verdict> verdict{};             // where it was judged
    const model::CaseReport *of{}, *base{};       // where it is of another case than the first of its finding
};

struct Judgement {
    Verdict verdict{};
    std::string why;
};

struct Observed {
    model::Unit unit{};
    model::Better better{};
    Threshold threshold;
    double base_median{};
    double candidate_median{};
};

// A counter that repeats to the last digit: the medians decide.
[[nodiscard]] Judgement judge_exact(const Observed& observed);

// `shift` carries an interval.
[[nodiscard]] Judgement judge_noisy(const Observed& observed, const Shift& shift, double q);

// Empty when n against m repetitions of `family` noisy metrics can show a difference; else `insufficient`, naming the
// repetitions that could.
[[nodiscard]] std::optional<Judgement> judge_sample_size(std::size_t n, std::size_t m, std::size_t family);

// The fewest repetitions of each side that can show a difference among `family` noisy metrics.
[[nodiscard]] std::size_t repetitions_needed(std::size_t family);

// "+5.2 %" of a ratio, "3.1x" from 2 on; "+64" of a difference.
[[nodiscard]] std::string signed_change(model::Unit unit, bool is_ratio, double value, int digits);

// A factor, "1.10x", or the difference in the metric's unit where that says more: "+8 B" where the factor would
// be 1.00x.
[[nodiscard]] std::string brief_shift_text(model::Unit unit, const Shift& shift, double base_median);

// "1.10x (95 % interval 1.09 to 1.12)", "+64 (95 % interval +60 to +70)", "+0.51 % (95 % interval +0.48 % to +0.55 %)";
// without an interval "300 instead of 100", or "+8 B (3.26 MiB)" where both would read alike.
[[nodiscard]] std::string shift_text(model::Unit unit, const Shift& shift, double base_median, double candidate_median);

}  // namespace memsweep::measure

namespace memsweep::model {
template <>
std::span<const Named<measure::Verdict>> names<measure::Verdict>();
}
