#include "core/measure/paired.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/assert.hpp"
#include "core/measure/format.hpp"
#include "core/measure/summary.hpp"

namespace memsweep::measure {
namespace {

using model::MetricClass;

// Shares of the wealth, and how much of its share each bets in every round. One that bets all doubles while every round
// says the same, and is lost with the first that does not.
struct Bet {
    double share;
    double fraction;
};
constexpr std::array<Bet, 4> bets{{{0.2, 0.4}, {0.3, 0.7}, {0.2, 0.9}, {0.3, 1}}};

// Rounds after which their scatter says what a large difference is; before, only the sign of each is bet on.
constexpr std::size_t rounds_of_signs = 4;

// Rounds whose scatter says that there is no change, and what is added to the variance that so few show.
constexpr std::size_t rounds_of_scatter = 5;
constexpr double small_sample = 3;

// The scatter of the rounds before each: a bet may rest on the past alone.
std::vector<double> scales_of(std::span<const double> changes)
{
    std::vector<double> scales(changes.size(), 0.0);
    for (std::size_t i = rounds_of_signs; i < changes.size(); ++i) {
        scales[i] = normal_deviations * median_absolute_deviation(changes.first(i));
    }
    return scales;
}

// From -1 to 1; odd and rising, so that a bet against the changes being below x is one against all smaller ones too.
double outcome_of(double difference, double scale)
{
    if (scale <= 0) {
        return difference > 0 ? 1 : difference < 0 ? -1 : 0;
    }
    return std::clamp(difference / scale, -1.0, 1.0);
}

enum class Against : std::uint8_t { at_most, at_least };

// The largest wealth so far of who bets against the change being at most (at least) `x`, having begun with 1. Under
// that hypothesis it ever reaches 1/a with a chance of at most a.
double wealth_against(Against hypothesis, double x, std::span<const double> changes, std::span<const double> scales)
{
    const double direction = hypothesis == Against::at_most ? 1 : -1;
    std::array<double, bets.size()> wealth{};
    std::ranges::transform(bets, wealth.begin(), &Bet::share);
    double largest = 1;
    for (std::size_t i = 0; i < changes.size(); ++i) {
        const double outcome = direction * outcome_of(changes[i] - x, scales[i]);
        double now = 0;
        for (std::size_t k = 0; k < bets.size(); ++k) {
            wealth[k] *= 1 + bets[k].fraction * outcome;
            now += wealth[k];
        }
        largest = std::max(largest, now);
    }
    return largest;
}

// Rounds as changes of one scale: logarithms of ratios, or differences.
class Changes {
  public:
    explicit Changes(std::span<const PairOfValues> rounds)
    {
        is_ratio_ =
            std::ranges::all_of(rounds, [](const PairOfValues& pair) { return pair.base > 0 && pair.candidate > 0; });
        std::vector<double> bases;
        for (const auto& [base, candidate] : rounds) {
            bases.push_back(base);
            changes_.push_back(is_ratio_ ? std::log(candidate / base) : candidate - base);
        }
        base_median_ = median(std::move(bases));
        scales_ = scales_of(changes_);
    }

    [[nodiscard]] bool excludes(Against hypothesis, double x, double chance) const
    {
        return wealth_against(hypothesis, x, changes_, scales_) >= 1 / chance;
    }

    // The median of all means of two changes.
    [[nodiscard]] double estimate() const
    {
        std::vector<double> means;
        means.reserve(changes_.size() * (changes_.size() + 1) / 2);
        for (std::size_t i = 0; i < changes_.size(); ++i) {
            for (std::size_t j = i; j < changes_.size(); ++j) {
                means.push_back((changes_[i] + changes_[j]) / 2);
            }
        }
        return median(std::move(means));
    }

    // A threshold, or a multiple of it, on the scale of the changes.
    [[nodiscard]] double allowed(const Threshold& threshold, double times) const
    {
        const double of_base = std::fabs(base_median_);
        const double in_unit =
            times * std::max(std::min(threshold.relative * of_base, threshold.at_most), threshold.absolute);
        return is_ratio_ ? std::log1p(in_unit / of_base) : in_unit;
    }

    [[nodiscard]] double in_unit(double change) const { return is_ratio_ ? std::expm1(change) * base_median_ : change; }

    [[nodiscard]] Shift shift() const
    {
        constexpr double chance_of_a_side = 0.025;
        const auto shown = [this](double change) { return is_ratio_ ? std::exp(change) : change; };
        const double low = bound(Against::at_most, chance_of_a_side);
        const double high = bound(Against::at_least, chance_of_a_side);
        Shift shift{.is_ratio = is_ratio_, .estimate = shown(estimate()), .interval = {}};
        if (std::isfinite(low) && std::isfinite(high) && low <= high) {
            shift.interval = {shown(low), shown(high)};
        }
        return shift;
    }

    // Whether a ratio of likelihoods prefers no change to one of `large`, up or down, by 1 to `chance`. Normal ones, of
    // the variance that the rounds show without their outliers.
    [[nodiscard]] bool favours_none(double large, double chance) const
    {
        if (rounds() < rounds_of_scatter) {
            return false;
        }
        const auto count = static_cast<double>(rounds());
        const double evidence = count * large * (large / 2 - std::fabs(estimate()));
        return evidence > 0 && evidence >= std::log(1 / chance) * variance() * (1 + small_sample / count);
    }

    // Robust: the standard deviation of normal ones.
    [[nodiscard]] double scatter() const { return normal_deviations * median_absolute_deviation(changes_); }

    // Without the tenth at either end, which counts as if it lay where the rest ends. The deviation of a median would
    // not do: it does not see a second mode that a third of the runs are in.
    [[nodiscard]] double variance() const
    {
        std::vector<double> sorted = changes_;
        std::ranges::sort(sorted);
        const std::size_t far = rounds() / 10;
        double sum = 0;
        double squares = 0;
        for (const double change : changes_) {
            const double near = std::clamp(change, sorted[far], sorted[rounds() - 1 - far]) - sorted[rounds() / 2];
            sum += near;
            squares += near * near;
        }
        const auto count = static_cast<double>(rounds());
        return (squares - sum * sum / count) / (count - 1);
    }

    [[nodiscard]] double base_median() const { return base_median_; }
    [[nodiscard]] std::size_t rounds() const { return changes_.size(); }

  private:
    // The end of the changes that are excluded, by bisection: the wealth falls as the hypothesis takes in more. Not
    // finite: none is excluded yet.
    [[nodiscard]] double bound(Against hypothesis, double chance) const
    {
        const auto [least, most] = std::ranges::minmax(changes_);
        const double margin = std::max(std::fabs(most - least), std::max(std::fabs(most), std::fabs(least)) * 1e-9);
        double excluded = hypothesis == Against::at_most ? least - margin : most + margin;
        double kept = hypothesis == Against::at_most ? most + margin : least - margin;
        if (!excludes(hypothesis, excluded, chance)) {
            return std::numeric_limits<double>::quiet_NaN();
        }
        constexpr int halvings = 50;
        for (int i = 0; i < halvings; ++i) {
            const double middle = (excluded + kept) / 2;
            (excludes(hypothesis, middle, chance) ? excluded : kept) = middle;
        }
        return kept;
    }

    bool is_ratio_{};
    std::vector<double> changes_;
    std::vector<double> scales_;
    double base_median_{};
};

Verdict decide_statistically(const Changes& changes, const PairedQuestion& question)
{
    const double estimate = changes.estimate();
    const bool is_beyond = beyond(question.threshold, changes.base_median(), changes.in_unit(estimate));
    const Against none = estimate > 0 ? Against::at_most : Against::at_least;
    if (is_beyond && changes.excludes(none, 0, question.false_alarms / 2)) {
        const bool is_worse = (question.better == model::Better::lower) == (estimate > 0);
        return is_worse ? Verdict::regressed : Verdict::improved;
    }
    const double large = changes.allowed(question.threshold, 2);
    if (!is_beyond && large > 0 && changes.favours_none(large, misses)) {
        return Verdict::same;
    }
    return changes.rounds() < least_rounds(question.false_alarms) ? Verdict::insufficient : Verdict::inconclusive;
}

RoundsSay what_rounds_say(Verdict verdict)
{
    return verdict == Verdict::same           ? RoundsSay::same
           : verdict == Verdict::insufficient ? RoundsSay::too_few
           : verdict == Verdict::inconclusive ? RoundsSay::open
                                              : RoundsSay::changed;
}

PairedJudgement explain_statistically(const Changes& changes, const PairedQuestion& question)
{
    const Verdict verdict = decide_statistically(changes, question);
    const Shift shift = changes.shift();
    return {verdict,
            {ShiftInRounds{question.unit, shift, question.threshold, changes.rounds(),
                           least_rounds(question.false_alarms), what_rounds_say(verdict)}},
            shift,
            question.threshold};
}

bool is_constant(std::span<const PairOfValues> rounds)
{
    return std::ranges::all_of(rounds, [&](const PairOfValues& pair) {
        return pair.base == rounds.front().base && pair.candidate == rounds.front().candidate;
    });
}

std::size_t rounds_wanted(const PairOfValues& constant)
{
    return constant.base == constant.candidate ? rounds_to_equal : rounds_to_differ;
}

Judgement judge_constants(std::span<const PairOfValues> rounds, const PairedQuestion& question)
{
    const auto& [base, candidate] = rounds.front();
    const std::size_t wanted = rounds_wanted(rounds.front());
    Judgement judgement = judge_exact({question.unit, question.better, question.threshold, base, candidate});
    if (rounds.size() < wanted) {
        auto& change = std::get<CounterChange>(judgement.reason.about);
        change.rounds = rounds.size();
        change.wanted = wanted;
        judgement.verdict = Verdict::insufficient;
    }
    return judgement;
}

// A counter that varies a little after all cannot be held to what one that repeats is held to. Half a percent, so that
// 1 % is found.
PairedQuestion of_varying(PairedQuestion question)
{
    constexpr double varying_counter = 0.005;
    const Threshold& asked = question.threshold;
    const bool is_held_to_it = question.is_asked_for && (asked.relative > 0 || asked.absolute > 0);
    if (question.metric_class == MetricClass::exact && !is_held_to_it) {
        question.threshold = {std::max(asked.relative, varying_counter), asked.absolute};
    }
    return question;
}

bool is_constant_counter(std::span<const PairOfValues> rounds, const PairedQuestion& question)
{
    MEMSWEEP_ASSERT(!rounds.empty(), "there is nothing to judge before the first round");
    return question.metric_class == MetricClass::exact && is_constant(rounds);
}

}  // namespace

Threshold default_paired_threshold(std::string_view metric, model::Unit unit, MetricClass metric_class)
{
    Threshold threshold = default_threshold(metric, unit, metric_class);
    if (metric_class == MetricClass::noisy) {
        threshold.relative /= 2;
    }
    return threshold;
}

double share_of_false_alarms(MetricClass metric_class, std::size_t metrics)
{
    const double all = metric_class == MetricClass::exact ? false_alarms_exact : false_alarms_noisy;
    return all / static_cast<double>(std::max<std::size_t>(metrics, 1));
}

std::size_t least_rounds(double false_alarms)
{
    MEMSWEEP_ASSERT(false_alarms > 0, "a share of no false alarms needs endless rounds");
    std::vector<double> changes;
    do {
        changes.push_back(1);
    } while (wealth_against(Against::at_most, 0, changes, std::vector<double>(changes.size(), 0.0)) < 2 / false_alarms);
    return changes.size();
}

bool hides_changes(std::span<const PairOfValues> rounds, const PairedQuestion& question)
{
    constexpr double largest_scatter = 3;  // in such changes: then 100 rounds find less than a tenth of them
    const Changes changes{rounds};
    const double large = changes.allowed(of_varying(question).threshold, 2);
    return large <= 0 || changes.scatter() > largest_scatter * large;
}

bool shows_none_yet(std::span<const PairOfValues> rounds, const PairedQuestion& question)
{
    constexpr std::size_t some_rounds = 8;
    const Changes changes{rounds};
    const double change = changes.in_unit(changes.estimate());
    return rounds.size() >= some_rounds && !beyond(question.threshold, changes.base_median(), change) &&
           changes.variance() > std::pow(changes.allowed(question.threshold, 2), 2);
}

Verdict decide_pairs(std::span<const PairOfValues> rounds, const PairedQuestion& question)
{
    return is_constant_counter(rounds, question) ? judge_constants(rounds, question).verdict
                                                 : decide_statistically(Changes{rounds}, of_varying(question));
}

PairedJudgement judge_pairs(std::span<const PairOfValues> rounds, const PairedQuestion& question)
{
    if (!is_constant_counter(rounds, question)) {
        return explain_statistically(Changes{rounds}, of_varying(question));
    }
    Judgement judgement = judge_constants(rounds, question);
    const auto& [base, candidate] = rounds.front();
    return {judgement.verdict, std::move(judgement.reason), hodges_lehmann(std::array{base}, std::array{candidate}),
            question.threshold};
}

}  // namespace memsweep::measure
