// Decides whether one metric changed between two programs that are measured in rounds. Each round runs both programs
// once, in random order. You may ask after every round and stop at any answer: the test is valid at every stopping
// time.
//
// It promises
//   - If two programs behave alike, at most 1 of 100 comparisons says `regressed` or `improved` of any metric, whenever
//     it is stopped. The noisy metrics share false_alarms_noisy of this chance, the exact ones false_alarms_exact.
//     The promise rests on the random order alone: if the programs are alike, a coin decides which of a round's two
//     values belongs to which. So a difference is as likely as its negative, whatever the noise: heavy tails, several
//     modes, a machine that drifts from round to round, a first run that is slower than the second.
//   - If a metric changes by twice the threshold, at most 5 of 100 comparisons call it `same`. This holds if the
//     differences of the rounds scatter about as normal ones do, or in two modes. `same` may rest on such an
//     assumption, because it raises no false alarm. It needs few rounds, because most comparisons are of programs that
//     behave alike.
// It cannot promise
//   - an answer: if rounds scatter by 15 %, 100 of them cannot tell a change of 5 % from none; then it gives no answer;
//   - fewer rounds: a test that assumes nothing about the noise gains at most a factor of 2 per round. So it can show
//     no change before least_rounds(), however large the change is;
//   - that it finds changes between the threshold and twice it: the larger they are, the more often it finds them;
//   - that an exact counter that was constant in every round seen never varies.
//
// Units    changes as in verdict.hpp: ratios where every value is positive, else differences in the metric's unit.
// Sources  E-processes by betting on clipped differences: Waudby-Smith and Ramdas, Estimating means of bounded random
//          variables by betting, JRSS-B 2023. Valid at every stopping time by Ville's inequality: Howard, Ramdas,
//          McAuliffe, Sekhon, Time-uniform, nonparametric, nonasymptotic confidence sequences, Annals of Statistics
//          2021. Bets on the sign of what is symmetric under the hypothesis: de la Pena, Annals of Probability 1999.
//          Several fixed bets are held at once, so that weak and strong changes are found soon (method of mixtures).
//          `same` is the end of a sequential probability ratio test: Wald, Sequential Tests of Statistical Hypotheses,
//          Annals of Mathematical Statistics 1945; with the variance estimated from the rounds, and enlarged while they
//          are few.
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

// The chances of a false `regressed` or `improved` in a comparison: for all noisy metrics together, and for all exact
// ones.
inline constexpr double false_alarms_noisy = 0.008;
inline constexpr double false_alarms_exact = 0.002;
// The chance of a false `same`, per metric, at which its test aims. The true chance is higher, because the test knows
// the noise only in part.
inline constexpr double misses = 0.02;

// The rounds after which an exact counter is judged, if it was constant on each side. Equal values are the `same`,
// others a change. If a counter takes two values at random, n rounds look like a change with a chance of at most 2 /
// 4^n.
inline constexpr std::size_t rounds_to_equal = 3;
inline constexpr std::size_t rounds_to_differ = 6;

struct PairedQuestion {
    model::Unit unit{};
    model::Better better{};
    model::MetricClass metric_class{};
    Threshold threshold;
    double false_alarms{};  // this metric's share of them
    bool is_asked_for{};    // the user chose the threshold: it also applies to an exact counter that varies
};

// The threshold if the user chose none: for noisy metrics half of default_threshold(). Rounds run both programs at one
// time on one machine, so they see smaller changes than two results do. A change as large as default_threshold() is
// twice this threshold, so it is found.
[[nodiscard]] Threshold default_paired_threshold(std::string_view metric, model::Unit unit,
                                                 model::MetricClass metric_class);

// The share of the false alarms that each of `metrics` metrics of this class gets.
[[nodiscard]] double share_of_false_alarms(model::MetricClass metric_class, std::size_t metrics);

// The fewest rounds after which a change of a noisy metric can be told at this share.
[[nodiscard]] std::size_t least_rounds(double false_alarms);

// Judges one round or more. Each has a value of both sides; leave out rounds that lack one.
//
//   regressed, improved         not by chance, and estimated beyond the threshold
//   same                        no change of twice the threshold, and estimated within it
//   inconclusive, insufficient  not decided yet; insufficient before any change could be told
[[nodiscard]] Verdict decide_pairs(std::span<const PairOfValues> rounds, const PairedQuestion& question);

[[nodiscard]] inline bool is_decided(Verdict verdict)
{
    return verdict == Verdict::regressed || verdict == Verdict::improved || verdict == Verdict::same;
}

// Whether the rounds scatter so much that a hundred of them would hardly show a change of twice the threshold. The
// scatter is the median deviation of their differences, so a few disturbed rounds do not matter.
[[nodiscard]] bool hides_changes(std::span<const PairOfValues> rounds, const PairedQuestion& question);

// Whether eight or more rounds show no change but scatter by more than twice the threshold: certainty would take many
// more rounds. Give up here only if another metric has already given the answer.
[[nodiscard]] bool shows_none_yet(std::span<const PairOfValues> rounds, const PairedQuestion& question);

struct PairedJudgement {
    Verdict verdict{};
    Reason reason;
    Shift shift;  // the Hodges-Lehmann estimate of the rounds; the 95 % interval is valid at every stopping time
    Threshold threshold;  // the one that was applied
};

// The same verdict, with the reason and the size of the change for reports.
[[nodiscard]] PairedJudgement judge_pairs(std::span<const PairOfValues> rounds, const PairedQuestion& question);

}  // namespace memsweep::measure
