#include "core/measure/paired.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/measure/canary.hpp"
#include "reporters/wording/reason_words.hpp"
#include "tests/measure/samples.hpp"
#include "tests/support/sanitized.hpp"

using namespace memsweep;
using namespace memsweep::measure;
using Catch::Matchers::Contains;
using model::MetricClass;

namespace {

PairedQuestion about(const char* name, std::size_t metrics = 4)
{
    const model::Metric one = metric(name, {});
    return {one.unit, one.better, one.metric_class, default_paired_threshold(one.name, one.unit, one.metric_class),
            share_of_false_alarms(one.metric_class, metrics)};
}

std::vector<PairOfValues> alike(std::size_t rounds, PairOfValues pair)
{
    return std::vector<PairOfValues>(rounds, pair);
}

// What programs take in rounds of a noise that drives both of them.
class Noise {
  public:
    enum class Shape : std::uint8_t { normal, lognormal, bimodal, drifting };

    Noise(std::uint64_t seed, Shape shape, double sigma) : rng_{seed}, shape_{shape}, sigma_{sigma} {}

    // Of one round, in random order: what is measured later takes the later noise.
    PairOfValues round(double factor)
    {
        const bool base_first = rng_.below(2) == 0;
        const double first = next();
        const double second = next();
        return base_first ? PairOfValues{first, factor * second} : PairOfValues{second, factor * first};
    }

  private:
    double uniform() { return (static_cast<double>(rng_.next() >> 11) + 0.5) * 0x1p-53; }
    double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform()); }

    double next()
    {
        switch (shape_) {
        case Shape::normal:
            return std::max(0.05, 1 + sigma_ * normal());
        case Shape::lognormal:
            return std::exp(sigma_ * normal());
        case Shape::bimodal:
            return std::exp((uniform() < 0.3 ? 2 * sigma_ : 0) + 0.1 * sigma_ * normal());
        case Shape::drifting:
            level_ += 0.5 * sigma_ * normal();
            return std::exp(level_ + sigma_ * normal());
        }
        return 1;
    }

    base::Rng rng_;
    Shape shape_;
    double sigma_;
    double level_{};
};

constexpr std::array shapes{Noise::Shape::normal, Noise::Shape::lognormal, Noise::Shape::bimodal,
                            Noise::Shape::drifting};

struct Outcomes {
    std::size_t all{}, regressed{}, improved{}, same{}, rounds{};
};

// Asked after every round, as whoever stops at the first answer does.
void compare_once(Noise noise, double factor, std::size_t most_rounds, Outcomes& into)
{
    const PairedQuestion question = about("wall_time");
    std::vector<PairOfValues> rounds;
    Verdict verdict = Verdict::insufficient;
    while (!is_decided(verdict) && rounds.size() < most_rounds) {
        rounds.push_back(noise.round(factor));
        verdict = decide_pairs(rounds, question);
    }
    ++into.all;
    into.regressed += verdict == Verdict::regressed ? 1 : 0;
    into.improved += verdict == Verdict::improved ? 1 : 0;
    into.same += verdict == Verdict::same ? 1 : 0;
    into.rounds += rounds.size();
}

std::vector<std::string> reasons(CanaryRule& rule, std::size_t rounds, double time)
{
    std::vector<std::string> said;
    for (std::size_t i = 0; i < rounds; ++i) {
        if (const auto why = rule.why_repeat(std::array{time, time * 1.001})) {
            said.push_back(*why);
        }
    }
    return said;
}

}  // namespace

TEST_CASE("of programs that behave alike at most 1 of 100 comparisons says otherwise, whenever they stop",
          "[unit][campaign]")
{
    Outcomes outcomes;
    for (const double sigma : {0.01, 0.03, 0.1, 0.2}) {
        for (const Noise::Shape shape : shapes) {
            for (std::uint64_t seed = 0; seed < 75; ++seed) {
                compare_once({seed * 1000 + static_cast<std::uint64_t>(sigma * 100), shape, sigma}, 1, 24, outcomes);
            }
        }
    }
    CHECK(outcomes.all == 1200);
    CHECK(outcomes.regressed + outcomes.improved <= 12);
}

TEST_CASE("a change of twice the threshold is found beside the noise of real programs", "[unit][campaign]")
{
    Outcomes worse;
    Outcomes better;
    Outcomes alike;
    for (const double sigma : {0.01, 0.02, 0.03}) {
        for (const Noise::Shape shape : shapes) {
            for (std::uint64_t seed = 0; seed < 25; ++seed) {
                compare_once({seed, shape, sigma}, 1.05, 60, worse);
                compare_once({seed, shape, sigma}, 1 / 1.06, 60, better);
                compare_once({seed + 500, shape, sigma}, 1, 60, alike);
            }
        }
    }
    CHECK(worse.regressed * 100 >= worse.all * 95);
    CHECK(worse.improved == 0);
    CHECK(better.improved * 100 >= better.all * 95);
    CHECK(better.regressed == 0);
    CHECK(alike.same * 100 >= alike.all * 95);
    CHECK((worse.same + better.same) * 100 <= (worse.all + better.all) * 3);
    CHECK(worse.rounds <= 18 * worse.all);
    CHECK(alike.rounds <= 9 * alike.all);
}

TEST_CASE("a change of twice the threshold is hardly ever called the same, whatever shape the noise has",
          "[unit][campaign]")
{
    constexpr std::uint64_t seeds = tests::sanitized ? 5 : 50;  // the sanitizers make minutes of it
    Outcomes outcomes;
    for (const double sigma : {0.03, 0.05, 0.07, 0.1}) {
        for (const Noise::Shape shape : shapes) {
            for (std::uint64_t seed = 0; seed < seeds; ++seed) {
                compare_once({seed, shape, sigma}, 1.05, 100, outcomes);
            }
        }
    }
    CHECK(outcomes.all == 16 * seeds);
    CHECK(outcomes.same * 20 <= outcomes.all);
}

TEST_CASE("a change without noise is told after the rounds that any change needs, and not before", "[unit]")
{
    const PairedQuestion question = about("wall_time");
    const std::size_t least = least_rounds(question.false_alarms);
    CHECK(least == 12);
    CHECK(decide_pairs(alike(least - 1, {1, 1.5}), question) == Verdict::insufficient);
    CHECK(decide_pairs(alike(least, {1, 1.5}), question) == Verdict::regressed);
    CHECK(decide_pairs(alike(least, {1.5, 1}), question) == Verdict::improved);
    CHECK(decide_pairs(alike(least, {1.5, 1}), about("bandwidth")) == Verdict::regressed);
}

TEST_CASE("values that are equal, and zeroes, are the same", "[unit]")
{
    CHECK(decide_pairs(alike(8, {1, 1}), about("wall_time")) == Verdict::same);
    CHECK(decide_pairs(alike(8, {0, 0}), about("major_faults")) == Verdict::same);
    CHECK(decide_pairs(alike(20, {0, 5}), about("major_faults")) == Verdict::regressed);
    CHECK_FALSE(is_decided(decide_pairs(alike(1, {1, 2}), about("wall_time"))));
}

TEST_CASE("a change within the absolute threshold is none", "[unit]")
{
    const PairedQuestion question = about("working_set_peak");
    CHECK(question.threshold.relative == 0.01);
    CHECK(decide_pairs(alike(20, {4e6, 4.5e6}), question) == Verdict::same);
    CHECK(decide_pairs(alike(20, {4e6, 7e6}), question) == Verdict::regressed);
}

TEST_CASE("an exact counter that repeats is judged after a few rounds", "[unit]")
{
    const PairedQuestion question = about("allocations");
    CHECK(decide_pairs(alike(2, {100, 100}), question) == Verdict::insufficient);
    CHECK(decide_pairs(alike(3, {100, 100}), question) == Verdict::same);
    CHECK(decide_pairs(alike(5, {100, 101}), question) == Verdict::insufficient);
    const PairedJudgement more = judge_pairs(alike(6, {100, 101}), question);
    CHECK(more.verdict == Verdict::regressed);
    CHECK_THAT(reporters::reason_text(more.reason), Contains("101 instead of 100"));
    CHECK(decide_pairs(alike(6, {101, 100}), question) == Verdict::improved);
}

TEST_CASE("an exact counter that varies is judged as what varies", "[unit]")
{
    std::vector<PairOfValues> rounds;
    for (int i = 0; i < 20; ++i) {
        rounds.push_back({10000.0 + i % 3, 10000.0 + (i + 1) % 4});
    }
    CHECK(decide_pairs(rounds, about("allocations")) == Verdict::same);
    for (PairOfValues& pair : rounds) {
        pair.candidate *= 1.02;
    }
    CHECK(decide_pairs(rounds, about("allocations")) == Verdict::regressed);
}

TEST_CASE("the sentence of a verdict has its size, its interval, and its rounds", "[unit]")
{
    std::vector<PairOfValues> rounds;
    for (const double value : ten) {
        rounds.push_back({1, 1.1 * value});
        rounds.push_back({1, 1.1 / value});
    }
    const PairedJudgement judgement = judge_pairs(rounds, about("wall_time"));
    CHECK(judgement.verdict == Verdict::regressed);
    REQUIRE(judgement.shift.interval.has_value());
    CHECK((*judgement.shift.interval)[0] < 1.1);
    CHECK((*judgement.shift.interval)[0] > 1.05);
    CHECK((*judgement.shift.interval)[1] > 1.1);
    CHECK_THAT(reporters::reason_text(judgement.reason), Contains("+10.0 % (95 % interval") && Contains("20 rounds"));
    CHECK_THAT(reporters::reason_text(judge_pairs(alike(2, {1, 1}), about("wall_time")).reason),
               Contains("2 rounds of the 12"));
}

TEST_CASE("a round whose canary is off is measured again", "[unit]")
{
    CanaryRule rule;
    CHECK(reasons(rule, 5, 0.010).empty());
    const auto off = reasons(rule, 1, 0.015);
    REQUIRE(off.size() == 1);
    CHECK_THAT(off.front(), Contains("the canary took 15.0 ms instead of 10.0 ms"));
    CHECK(reasons(rule, 5, 0.010).empty());
    CHECK(rule.repeats() == 1);
}

TEST_CASE("rounds are repeated a bounded number of times, and a machine that stays slow becomes the normal one",
          "[unit]")
{
    CanaryRule rule;
    CHECK(reasons(rule, 8, 0.010).empty());
    const std::size_t repeats = reasons(rule, 40, 0.013).size();
    CHECK(repeats >= 2);
    CHECK(repeats <= 12);
    CHECK(reasons(rule, 10, 0.013).empty());
    CHECK(rule.repeats() == repeats);
}
