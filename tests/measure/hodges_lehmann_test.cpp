#include "core/measure/nonparametric.hpp"

#include <algorithm>
#include <numeric>

#include "tests/measure/reference_vectors.hpp"
#include "tests/measure/samples.hpp"

using namespace memsweep;
using namespace memsweep::measure;

TEST_CASE("shifts and their intervals agree with numpy over scipy's distribution of U", "[unit]")
{
    for (const ShiftVector& vector : shift_vectors) {
        CAPTURE(vector.base.size(), vector.candidate.size());
        const Shift shift = hodges_lehmann(vector.base, vector.candidate);
        CHECK(shift.is_ratio == vector.is_ratio);
        CHECK(agrees(shift.estimate, vector.estimate));
        CHECK(agrees(shift.interval, vector.interval));
    }
}

TEST_CASE("the interval's rank is Wilcoxon's critical value", "[unit]")
{
    CHECK(shift_interval_rank(3, 3) == 0);  // 2 / 20 > 5 %: unreachable
    CHECK(shift_interval_rank(4, 4) == 1);
    CHECK(shift_interval_rank(5, 5) == 3);
    CHECK(shift_interval_rank(10, 10) == 24);
    CHECK(shift_interval_rank(20, 20) == 128);
    CHECK(shift_interval_rank(1, 39) == 1);
    CHECK(shift_interval_rank(1, 38) == 0);
}

TEST_CASE("the interval excludes no change exactly when the exact test is significant", "[unit]")
{
    const std::uint64_t seed = Catch::rngSeed();
    CAPTURE(seed);
    base::Rng rng{seed};
    int significant = 0;
    for (int trial = 0; trial < 500; ++trial) {
        const auto base = noisy_sample(rng, 4 + rng.below(9), 1, 0.1);
        const auto candidate = noisy_sample(rng, 4 + rng.below(9), 1.1, 0.1);
        const Shift shift = hodges_lehmann(base, candidate);
        REQUIRE(shift.interval.has_value());
        const bool excludes = (*shift.interval)[0] > 1 || (*shift.interval)[1] < 1;
        CHECK(excludes == (rank_test(base, candidate).p <= 0.05));
        CHECK((*shift.interval)[0] <= shift.estimate);
        CHECK(shift.estimate <= (*shift.interval)[1]);
        significant += excludes ? 1 : 0;
    }
    CHECK(significant > 50);
    CHECK(significant < 450);
}

TEST_CASE("exchanging the samples inverts the ratio", "[unit]")
{
    base::Rng rng{Catch::rngSeed()};
    const auto base = noisy_sample(rng, 8, 1, 0.1);
    const auto candidate = noisy_sample(rng, 9, 2, 0.1);
    const Shift forth = hodges_lehmann(base, candidate);
    const Shift back = hodges_lehmann(candidate, base);
    CHECK(agrees(forth.estimate * back.estimate, 1));
    CHECK(agrees((*forth.interval)[0] * (*back.interval)[1], 1));
}

TEST_CASE("the shift's interval covers the true ratio as often as it says", "[unit]")
{
    const std::uint64_t seed = Catch::rngSeed();
    CAPTURE(seed);
    base::Rng rng{seed};
    for (const std::size_t n : {5U, 8U, 10U, 20U}) {
        constexpr int trials = 2000;
        int covered = 0;
        for (int trial = 0; trial < trials; ++trial) {
            const auto base = noisy_sample(rng, n, 1, 0.1);
            const auto interval = *hodges_lehmann(base, noisy_sample(rng, n, 1.3, 0.1)).interval;
            covered += interval[0] <= 1.3 && 1.3 <= interval[1] ? 1 : 0;
        }
        CAPTURE(n, covered);
        CHECK(covered >= trials * 925 / 1000);
        CHECK(covered <= trials * 990 / 1000);
    }
}

TEST_CASE("a median of shifts is the one that sorting them all finds", "[unit]")
{
    const std::uint64_t seed = Catch::rngSeed();
    CAPTURE(seed);
    base::Rng rng{seed};
    for (std::size_t trial = 0; trial < 200; ++trial) {
        const std::size_t n = rng.below(30);
        std::vector<double> base{0};  // so that shifts are differences, not ratios
        std::vector<double> candidate;
        for (std::size_t i = 0; i < n; ++i) {
            base.push_back(static_cast<double>(rng.below(9)) - 4);  // many ties, and zeros
        }
        for (std::size_t i = 0; i < 1 + trial % 7; ++i) {
            candidate.push_back(static_cast<double>(rng.below(9)) * 0.1 - 4e-300);
        }
        std::vector<double> all;
        for (const double from : base) {
            for (const double to : candidate) {
                all.push_back(to - from);
            }
        }
        std::ranges::sort(all);
        const double middle = all[all.size() / 2];
        const double expected = all.size() % 2 == 1 ? middle : std::midpoint(all[all.size() / 2 - 1], middle);
        const Shift shift = hodges_lehmann(base, candidate);
        REQUIRE_FALSE(shift.is_ratio);
        CHECK(shift.estimate == expected);
    }
}
