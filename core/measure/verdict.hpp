// What a comparison comes to: one word, and the sentence that explains it.
//
// Sources  effect size, significance and interval together, never one of them alone. With runs drifting by up to 2 %
//          each, U alone gave 58 % false alarms at 1 % noise and 19 % at 3 %; all three together gave 0.01 % and 1.8 %
//          (20,000 simulated pairs of 10 repetitions).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/measure/nonparametric.hpp"
#include "core/measure/thresholds.hpp"
#include "core/model/metric.hpp"
#include "core/model/names.hpp"

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

inline constexpr double significance = 0.05;       // of q, the adjusted p value
inline constexpr std::size_t min_repetitions = 5;  // below, the smallest p is 0.029 and no family survives

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

// "1.10x (95 % interval 1.09 to 1.12)", "+64 (95 % interval +60 to +70)"; without an interval "300 instead of 100".
[[nodiscard]] std::string shift_text(model::Unit unit, const Shift& shift, double base_median, double candidate_median);

}  // namespace memsweep::measure

namespace memsweep::model {
template <>
std::span<const Named<measure::Verdict>> names<measure::Verdict>();
}
