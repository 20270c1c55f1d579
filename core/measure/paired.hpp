// Decides whether one metric changed between two programs that are measured in rounds. Each round runs both programs
// once, in random order. You may ask after every round and stop at any answer: the test is valid at every stopping
// time.
//
// The test promises
//   - If two programs behave alike, at most 1 of 100 comparisons calls any metric `regressed` or `improved`, after
//     whichever round it is stopped. Of this chance of 1 in 100, the noisy metrics share false_alarms_noisy, the exact
//     metrics false_alarms_exact. The promise rests only on the random order. If the programs are alike, chance decides
//     which of a round's two values belongs to which program. So a difference is as likely as its negative, with any
//     noise: heavy tails, several modes, a machine that drifts from round to round, a first run that is slower than the
//     second.
//   - If a metric changes by twice the threshold, at most 5 of 100 comparisons call it `same`. This assumes that the
//     differences of the rounds have about a normal distribution, or two modes. `same` may rest on this assumption,
//     because a wrong `same` raises no alarm. `same` must be found in few rounds, because most compared programs behave
//     alike.
// The test does not promise
//   - an answer: if rounds scatter by 15 %, 100 of them cannot tell a change of 5 % from no change;
//   - an early answer: a test that assumes nothing about the noise gains at most a factor of 2 in evidence per round.
//     So it can show no change before least_rounds(), however large the change is;
//   - that it finds changes of one to two times the threshold: the larger a change, the more often it is found;
//   - certainty that an exact counter never varies: one that was constant in every round so far may still vary.
//
// Units    changes as in verdict.hpp: ratios where every value is positive, else differences in the metric's unit.
// Sources  E-processes by betting on clipped differences: Waudby-Smith and Ramdas, Estimating means of bounded random
//          variables by betting, JRSS-B 2023. Valid at every stopping time by Ville's inequality: Howard, Ramdas,
//          McAuliffe, Sekhon, Time-uniform, nonparametric, nonasymptotic confidence sequences, Annals of Statistics
//          2021. Bets on the sign of differences that are symmetric under the hypothesis: de la Pena, Annals of
//          Probability 1999. Several fixed bets are made at the same time, so that both weak and strong changes are
//          found early (method of mixtures). `same` is decided by a sequential probability ratio test: Wald, Sequential
//          Tests of Statistical Hypotheses, Annals of Mathematical Statistics 1945. The variance for it is estimated
//          from the rounds, and enlarged while there are few rounds.
// Cost     O(n^2 log n) for n rounds.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "core/measure/statistics.hpp"
#include "core/measure/verdict.hpp"
#include "core/model/metric.hpp"

namespace memsweep::measure {

struct PairOfValues {
    double base{};
    double candidate{};
};

// The chance of a false `regressed` or `improved` in a comparison: for all noisy metrics together, and for all exact
// metrics together.
inline constexpr double false_alarms_noisy = 0.008;
inline constexpr double false_alarms_exact = 0.002;
// The test aims at this chance of a false `same` for each metric that changed by twice the threshold. The true chance
// is higher, because the test has to estimate the noise.
inline constexpr double misses = 0.02;

// Numbers of rounds for an exact counter that had one value per side in every round. It is `same` after rounds_to_equal
// rounds if the two values are equal, and changed after rounds_to_differ rounds if they differ. If a counter takes two
// values at random, the chance that n rounds look like a change is at most 2 / 4^n.
inline constexpr std::size_t rounds_to_equal = 3;
inline constexpr std::size_t rounds_to_differ = 6;

struct PairedQuestion {
    model::Unit unit{};
    model::Better better{};
    model::MetricClass metric_class{};
    Threshold threshold;
    double false_alarms{};  // this metric's share of the chance of a false alarm
    bool is_asked_for{};    // the user chose the threshold: it also applies to an exact counter that varies
};

// Returns the threshold for a metric for which the user chose none. For noisy metrics it is half of
// default_threshold(), because a round measures both programs within a short time on one machine. So rounds show
// smaller changes than two results do. A change as large as default_threshold() is twice this threshold, so it is
// found.
[[nodiscard]] Threshold default_paired_threshold(std::string_view metric, model::Unit unit,
                                                 model::MetricClass metric_class);

// Returns the chance of a false alarm that each metric may have, if `metrics` metrics of this class share the chance of
// the class.
[[nodiscard]] double share_of_false_alarms(model::MetricClass metric_class, std::size_t metrics);

// Returns the fewest rounds in which a change of a noisy metric can be shown with this chance of a false alarm.
[[nodiscard]] std::size_t least_rounds(double false_alarms);

// Judges at least one round. The caller leaves out rounds in which a side has no value.
//
//   regressed, improved         a change that is not chance, with an estimate beyond the threshold
//   same                        no change of twice the threshold, with an estimate within the threshold
//   inconclusive, insufficient  not decided yet; `insufficient` while the rounds are too few to show any change
[[nodiscard]] Verdict decide_pairs(std::span<const PairOfValues> rounds, const PairedQuestion& question);

[[nodiscard]] inline bool is_decided(Verdict verdict)
{
    return verdict == Verdict::regressed || verdict == Verdict::improved || verdict == Verdict::same;
}

// Whether the rounds scatter so much that 100 of them would hardly show a change of twice the threshold. The scatter is
// the median absolute deviation of the rounds' differences, so a few disturbed rounds do not matter.
[[nodiscard]] bool hides_changes(std::span<const PairOfValues> rounds, const PairedQuestion& question);

// Whether at least eight rounds show no change but scatter by more than twice the threshold. If so, certainty would
// take many more rounds. Stop only if another metric has already given the answer.
[[nodiscard]] bool shows_none_yet(std::span<const PairOfValues> rounds, const PairedQuestion& question);

struct PairedJudgement {
    Verdict verdict{};
    Reason reason;
    Shift shift;  // the Hodges-Lehmann estimate of the rounds; the 95 % interval is valid at every stopping time
    Threshold threshold;  // the one that was applied
};

// Returns the verdict of decide_pairs(), with the reason and the size of the change for reports.
[[nodiscard]] PairedJudgement judge_pairs(std::span<const PairOfValues> rounds, const PairedQuestion& question);

}  // namespace memsweep::measure
