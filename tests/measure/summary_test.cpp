#include "core/measure/summary.hpp"

#include <limits>

#include "tests/measure/reference_vectors.hpp"
#include "tests/measure/samples.hpp"

using namespace memsweep;
using namespace memsweep::measure;
using model::Stat;

TEST_CASE("a summary agrees with numpy and scipy", "[unit]")
{
    for (const SummaryVector& vector : summary_vectors) {
        CAPTURE(vector.values.size());
        const auto summary = summarize(optionals(vector.values));
        REQUIRE(summary.has_value());
        CHECK(summary->n == vector.values.size());
        CHECK(agrees(summary->mean, vector.mean));
        CHECK(agrees(summary->median, vector.median));
        CHECK(agrees(summary->mad, vector.mad));
        CHECK(agrees(*summary->mdape, vector.mad / vector.median));
        CHECK(agrees(summary->stddev.value_or(0), vector.stddev));
        CHECK(summary->stddev.has_value() == (vector.values.size() > 1));
        CHECK(agrees(summary->ci95, vector.ci95));
        CHECK(summary->outliers == vector.outliers);
        const bool tails = vector.values.size() >= 20;
        CHECK(summary->p05.has_value() == tails);
        CHECK(summary->p95.has_value() == tails);
        CHECK(agrees(summary->p05.value_or(vector.p05), vector.p05));
        CHECK(agrees(summary->p95.value_or(vector.p95), vector.p95));
        CHECK(agrees(*stat_of(optionals(vector.values), Stat::percentile, 33.3), vector.p33));
    }
}

TEST_CASE("the median's interval takes the binomial order statistics", "[unit]")
{
    const std::vector<std::pair<std::size_t, std::size_t>> expected{{1, 0},  {5, 0},  {6, 1},   {8, 1}, {9, 2},
                                                                    {12, 3}, {20, 6}, {30, 10}, {0, 0}, {2, 0}};
    for (const auto& [n, rank] : expected) {
        CAPTURE(n);
        CHECK(median_interval_rank(n) == rank);
    }
    CHECK(median_interval_rank(10'000) == 4902);  // scipy.stats.binom; 2^-10000 is no double
}

TEST_CASE("absent values are left out and all absent means no summary", "[unit]")
{
    const std::vector<std::optional<double>> some{std::nullopt, 3.0, std::nullopt, 1.0};
    const auto summary = summarize(some);
    REQUIRE(summary.has_value());
    CHECK(summary->n == 2);
    CHECK(summary->min == 1);
    CHECK(summary->max == 3);
    CHECK(summary->median == 2);
    CHECK_FALSE(summarize(std::vector<std::optional<double>>(3)).has_value());
    CHECK_FALSE(summarize({}).has_value());
    CHECK_FALSE(stat_of({}, Stat::median, 0).has_value());
}

TEST_CASE("a median of 0 has no percentage error", "[unit]")
{
    const std::vector<std::optional<double>> zeros{0.0, 0.0, 0.0, 4.0};
    CHECK_FALSE(summarize(zeros)->mdape.has_value());
    CHECK_FALSE(stat_of(zeros, Stat::mdape, 0).has_value());
    CHECK(summarize(std::vector<std::optional<double>>{-2.0, -2.0, -1.0})->mdape == 0);
}

TEST_CASE("every statistic can be asked for", "[unit]")
{
    const auto values = optionals({6, 1, 2, 3, 5, 4});
    CHECK(stat_of(values, Stat::min, 0) == 1);
    CHECK(stat_of(values, Stat::max, 0) == 6);
    CHECK(stat_of(values, Stat::mean, 0) == 3.5);
    CHECK(stat_of(values, Stat::median, 0) == 3.5);
    CHECK(stat_of(values, Stat::mad, 0) == 1.5);
    CHECK(stat_of(values, Stat::ci_lo, 0) == 1);
    CHECK(stat_of(values, Stat::ci_hi, 0) == 6);
    CHECK(stat_of(values, Stat::percentile, 0) == 1);
    CHECK(stat_of(values, Stat::percentile, 100) == 6);
    CHECK(stat_of(values, Stat::percentile, 50) == 3.5);
    CHECK_FALSE(stat_of(optionals({1, 2, 3, 4, 5}), Stat::ci_lo, 0).has_value());
}

TEST_CASE("the median's interval covers the median as often as it says", "[unit]")
{
    const std::uint64_t seed = Catch::rngSeed();
    CAPTURE(seed);
    base::Rng rng{seed};
    for (const std::size_t n : {6U, 9U, 12U, 20U, 30U}) {
        constexpr int trials = 3000;
        int covered = 0;
        for (int trial = 0; trial < trials; ++trial) {
            const auto ci = *summarize(optionals(noisy_sample(rng, n, 1, 0.3)))->ci95;
            covered += ci[0] <= 1 && 1 <= ci[1] ? 1 : 0;
        }
        CAPTURE(n, covered);
        CHECK(covered >= trials * 93 / 100);    // 95 % or more, less five standard errors
        CHECK(covered <= trials * 985 / 1000);  // n = 6 gives 96.9 %
    }
}
