// Two programs measured in rounds, both once in each round and in random order: whether one metric changed. May be
// asked after every round, and the rounds may stop at any answer, because the test is valid at every stopping time.
//
// It promises
//   - If two programs behave alike, at most 1 of 100 comparisons says `regressed` or `improved` of any metric, whenever
//     it is stopped: false_alarms_noisy are shared among the noisy metrics, false_alarms_exact among the exact ones.
//     That rests on the random order alone. If both are alike, which of a round's two values is whose is a coin's
//     matter, so that their difference is as likely as its negative, whatever the noise: heavy tails, several modes, a
//     machine that drifts from round to round, a first run that is slower than the second.
//   - If a metric changes by twice the threshold, at most 5 of 100 comparisons call it `same`, where the differences of
//     the rounds scatter about as normal ones do, or in two modes. This rests on their scatter, because calling a
//     change `same` raises no false alarm, and rests on few rounds, because most comparisons are of programs that
//     behave alike.
// It cannot promise
//   - an answer: where rounds scatter by 15 % a change of 5 % is not told from none in 100 of them, and none is
//     invented;
//   - fewer rounds: a test that assumes nothing of the noise gains at most a factor of 2 a round, so that the first
//     change can be told after least_rounds(), however large it is;
//   - anything about changes between the threshold and twice it: they are found the more often the larger they are;
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

// Chances of any false `regressed` or `improved` in a comparison: those of noisy metrics, and those of exact ones.
inline constexpr double false_alarms_noisy = 0.008;
inline constexpr double false_alarms_exact = 0.002;
// Chance of a false `same`, per metric, that its test aims at: what it does not know of the noise adds to it.
inline constexpr double misses = 0.02;

// Exact counters that were constant on both sides in all rounds: equal ones are the same after so many rounds, others
// changed. Of a counter with two values at random, n rounds look like a change with a chance of at most 2 / 4^n.
inline constexpr std::size_t rounds_to_equal = 3;
inline constexpr std::size_t rounds_to_differ = 6;

struct PairedQuestion {
    model::Unit unit{};
    model::Better better{};
    model::MetricClass metric_class{};
    Threshold threshold;
    double false_alarms{};  // this metric's share of them
    bool is_asked_for{};    // somebody chose the threshold: a counter that varies after all is held to it too
};

// What is allowed where nobody said otherwise: half of what default_threshold() allows of noisy metrics. Rounds see
// both programs at one time on one machine, and so see more finely than two results do. A change as large as the
// default threshold is twice this one, and is found.
[[nodiscard]] Threshold default_paired_threshold(std::string_view metric, model::Unit unit,
                                                 model::MetricClass metric_class);

// The share of one of `metrics` metrics of this class.
[[nodiscard]] double share_of_false_alarms(model::MetricClass metric_class, std::size_t metrics);

// The fewest rounds after which a change of a noisy metric can be told at this share.
[[nodiscard]] std::size_t least_rounds(double false_alarms);

// Judges at least one round; only rounds count in which both sides have a value.
//
//   regressed, improved         not by chance, and estimated beyond the threshold
//   same                        no change of twice the threshold, and estimated within it
//   inconclusive, insufficient  not decided yet; insufficient before any change could be told
[[nodiscard]] Verdict decide_pairs(std::span<const PairOfValues> rounds, const PairedQuestion& question);

[[nodiscard]] inline bool is_decided(Verdict verdict)
{
    return verdict == Verdict::regressed || verdict == Verdict::improved || verdict == Verdict::same;
}

// Whether the rounds scatter so much that a hundred of them would hardly tell a change of twice the threshold, by the
// median deviation of their differences: a few that were disturbed do not say so.
[[nodiscard]] bool hides_changes(std::span<const PairOfValues> rounds, const PairedQuestion& question);

// Whether some rounds show no change and scatter by more than twice the threshold, so that being sure of it would take
// many more. To give up here is for whoever has the answer from another metric.
[[nodiscard]] bool shows_none_yet(std::span<const PairOfValues> rounds, const PairedQuestion& question);

struct PairedJudgement {
    Verdict verdict{};
    Reason reason;
    Shift shift;  // the Hodges-Lehmann estimate of the rounds; the interval holds at 95 % for all rounds together
    Threshold threshold;  // that was applied
};

// The same with the reason and the size of the change, for who shows it.
[[nodiscard]] PairedJudgement judge_pairs(std::span<const PairOfValues> rounds, const PairedQuestion& question);

}  // namespace memsweep::measure
