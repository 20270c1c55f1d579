// The verdict of a comparison: one word, and the reason for it.
//
// Sources  effect size, significance and interval together, never one of them alone. 20,000 pairs of 10 repetitions
//          were simulated, with runs drifting by up to 2 % each. U alone gave 58 % false alarms at 1 % noise and 19 %
//          at 3 %. All three together gave 0.01 % and 1.8 %.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/measure/reasons.hpp"
#include "core/measure/statistics.hpp"
#include "core/measure/threshold.hpp"
#include "core/model/metric.hpp"
#include "core/model/names.hpp"

namespace memsweep::model {
struct CaseReport;
}

namespace memsweep::measure {

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

// A metric's value in one case or result, as far as it is known, and its change from another.
struct MetricEffect {
    std::string metric{};  // empty: of the whole case
    model::Unit unit{};
    std::optional<double> value{}, base_value{};  // in `unit`
    std::optional<Shift> effect{};                // value against base_value
    std::optional<Verdict> verdict{};             // where it was judged
    const model::CaseReport *of{}, *base{};       // if it is of another case than the first of its finding
};

struct Judgement {
    Verdict verdict{};
    Reason reason;
};

struct Observed {
    model::Unit unit{};
    model::Better better{};
    Threshold threshold;
    double base_median{};
    double candidate_median{};
};

// Judges a counter that repeats to the last digit, by its medians.
[[nodiscard]] Judgement judge_exact(const Observed& observed);

// Judges a metric that varies. `shift` has an interval.
[[nodiscard]] Judgement judge_noisy(const Observed& observed, const Shift& shift, double q);

// Empty if n and m repetitions of `family` noisy metrics can show a difference. Else `insufficient`, with the number of
// repetitions that could.
[[nodiscard]] std::optional<Judgement> judge_sample_size(std::size_t n, std::size_t m, std::size_t family);

// The fewest repetitions of each side that can show a difference among `family` noisy metrics.
[[nodiscard]] std::size_t repetitions_needed(std::size_t family);

}  // namespace memsweep::measure

namespace memsweep::model {
template <>
std::span<const Named<measure::Verdict>> names<measure::Verdict>();
}
