// The verdict of a comparison: one word, and the reason for it.
//
// Sources  A change counts only if effect size, significance and interval all show it. This was simulated with 20,000
//          pairs of runs of 10 repetitions each, with a drift of up to 2 % in each run. The U test alone gave 58 %
//          false alarms at 1 % noise and 19 % at 3 %. All three criteria together gave 0.01 % and 1.8 %.
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
    improved,      // the same, but better
    same,          // the interval lies within the threshold
    inconclusive,  // neither a change nor its absence could be shown
    insufficient,  // too few repetitions to show any change
    added,
    missing,
    newly_failing,
    fixed,
    not_comparable,
    informational,  // shown, never judged
};

// Whether a verdict makes `compare` fail: regressed and newly_failing do.
[[nodiscard]] bool gates(Verdict verdict);

inline constexpr double significance = 0.05;       // a change is significant up to this q, the adjusted p value
inline constexpr std::size_t min_repetitions = 5;  // with 4, the smallest p is 0.029: too large for two metrics or more

// A metric's value in one case or result, and its change from another case or result, as far as these are known.
struct MetricEffect {
    std::string metric{};  // empty: the effect concerns the case as a whole
    model::Unit unit{};
    std::optional<double> value{}, base_value{};  // in `unit`
    std::optional<Shift> effect{};                // of `value` against `base_value`
    std::optional<Verdict> verdict{};             // empty: not judged
    const model::CaseReport *of{}, *base{};  // the cases of `value` and `base_value`; nullptr: the cases of the finding
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

// Judges an exact counter by its medians.
[[nodiscard]] Judgement judge_exact(const Observed& observed);

// Judges a noisy metric. `shift` must have an interval.
[[nodiscard]] Judgement judge_noisy(const Observed& observed, const Shift& shift, double q);

// Returns nullopt if n and m repetitions are enough to show a difference when `family` noisy metrics are judged
// together. Otherwise returns `insufficient`, with the number of repetitions that would be enough.
[[nodiscard]] std::optional<Judgement> judge_sample_size(std::size_t n, std::size_t m, std::size_t family);

// Returns the fewest repetitions per side that can show a difference when `family` noisy metrics are judged together.
[[nodiscard]] std::size_t repetitions_needed(std::size_t family);

}  // namespace memsweep::measure

namespace memsweep::model {
template <>
std::span<const Named<measure::Verdict>> names<measure::Verdict>();
}
