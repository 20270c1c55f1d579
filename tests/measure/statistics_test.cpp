#include "core/measure/statistics.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "core/base/rng.hpp"
#include "tests/measure/reference_vectors.hpp"
#include "tests/measure/samples.hpp"
#include "tests/support/catch.hpp"

using namespace memsweep;
using namespace memsweep::measure;

TEST_CASE("the rank test agrees with scipy, exact and asymptotic", "[unit]")
{
    int exact = 0;
    for (const RankVector& vector : rank_vectors) {
        CAPTURE(vector.first.size(), vector.second.size(), vector.p);
        const RankTest test = rank_test(vector.first, vector.second);
        CHECK(agrees(test.u, vector.u));
        CHECK(agrees(test.p, vector.p));
        CHECK(std::fabs(test.p - vector.p) <= 1e-12 * vector.p);
        CHECK(test.exact == vector.exact);
        exact += vector.exact ? 1 : 0;
    }
    CHECK(exact >= 10);
    CHECK(static_cast<int>(rank_vectors.size()) - exact >= 5);
}

TEST_CASE("U's distribution is whole, symmetric and counts arrangements", "[unit]")
{
    CHECK(agrees(u_distribution(4, 3)[0], 1.0 / 35));
    CHECK(agrees(u_distribution(4, 3)[4], 4.0 / 35));
    for (const auto& [n, m] : {std::pair{1, 1}, {5, 5}, {7, 3}, {50, 50}}) {
        const auto probability = u_distribution(static_cast<std::size_t>(n), static_cast<std::size_t>(m));
        CHECK(agrees(std::accumulate(probability.begin(), probability.end(), 0.0), 1));
        CHECK(std::equal(probability.begin(), probability.end(), probability.rbegin(),
                         [](double a, double b) { return std::fabs(a - b) <= 1e-14; }));
    }
}

TEST_CASE("the rank test is symmetric and sees only order", "[unit]")
{
    const std::uint64_t seed = Catch::rngSeed();
    CAPTURE(seed);
    base::Rng rng{seed};
    for (int trial = 0; trial < 200; ++trial) {
        const auto first = noisy_sample(rng, 1 + rng.below(12), 1, 0.2);
        const auto second = noisy_sample(rng, 1 + rng.below(12), 1.1, 0.2);
        const RankTest forth = rank_test(first, second);
        const RankTest back = rank_test(second, first);
        CHECK(agrees(forth.p, back.p));
        CHECK(agrees(forth.u + back.u, static_cast<double>(first.size() * second.size())));
        auto cubed_first = first;
        auto cubed_second = second;
        for (auto* values : {&cubed_first, &cubed_second}) {
            std::ranges::transform(*values, values->begin(), [](double value) { return value * value * value; });
        }
        CHECK(agrees(rank_test(cubed_first, cubed_second).p, forth.p));
    }
}

TEST_CASE("ties share their rank", "[unit]")
{
    const Ranks ranks = ranks_of(std::vector<double>{5, 1, 5, 5, 2});
    CHECK(ranks.rank == std::vector<double>{4, 1, 4, 4, 2});
    CHECK(ranks.tie_term == 24);
    CHECK(ranks_of({}).rank.empty());
}

TEST_CASE("Spearman's correlation with the order agrees with scipy", "[unit]")
{
    for (const SpearmanVector& vector : spearman_vectors) {
        const auto rho = spearman_with_order(vector.values);
        REQUIRE(rho.has_value());
        CHECK(agrees(*rho, vector.rho));
    }
    CHECK_FALSE(spearman_with_order(std::vector<double>{1, 1, 1}).has_value());
    CHECK_FALSE(spearman_with_order({}).has_value());
}

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

TEST_CASE("the shift's interval covers the true ratio as often as it says", "[unit][campaign]")
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

TEST_CASE("adjusted values follow Benjamini and Hochberg's definition", "[unit]")
{
    for (const AdjustmentVector& vector : adjustment_vectors) {
        const auto q = benjamini_hochberg(vector.p);
        REQUIRE(q.size() == vector.q.size());
        for (std::size_t i = 0; i < q.size(); ++i) {
            CHECK(agrees(q[i], vector.q[i]));
        }
    }
    CHECK(benjamini_hochberg({}).empty());
}

TEST_CASE("groups are selected first, then judged within at the share that was selected", "[unit]")
{
    // Group 0: Simes 0.001 * 2 = 0.002; group 2: 0.0001 * 4 = 0.0004; groups 1 and 3 show nothing, 4 has no test.
    const std::vector<std::size_t> tests{2, 5, 4, 1, 0};
    const std::vector<GroupedP> p{{0, 0.001}, {2, 0.03}, {2, 0.0001}, {1, 0.04}};
    const std::vector<double> q = benjamini_bogomolov(p, tests, 0.01);
    REQUIRE(q.size() == p.size());
    CHECK(q[0] == Approx(0.002 * 4 / 2));
    CHECK(q[1] == Approx(0.03 * 4 / 2 * 4 / 2));
    CHECK(q[2] == Approx(0.0004 * 4 / 2));
    CHECK(q[3] == Approx(0.04 * 5 * 4 / 2));
    CHECK(benjamini_bogomolov({}, tests, 0.01).empty());
}

TEST_CASE("of like groups with many tests each hardly one is named, and the same test alone would name them",
          "[unit][campaign]")
{
    memsweep::base::Rng rng{3};
    constexpr std::size_t fleets = 200;
    constexpr std::size_t hosts = 100;
    constexpr std::size_t quantities = 20;
    constexpr std::size_t bad = 10;
    const std::vector<std::size_t> tests(hosts, quantities);
    double false_share = 0;
    double false_share_of_one_family = 0;
    for (std::size_t fleet = 0; fleet < fleets; ++fleet) {
        std::vector<GroupedP> grouped;
        std::vector<double> p;
        for (std::size_t i = 0; i < hosts * quantities; ++i) {
            const std::size_t host = i / quantities;
            grouped.push_back(
                {host, host < bad ? 1e-9 : (static_cast<double>(rng.next() >> 11) + 0.5) / 9007199254740992.0});
            p.push_back(grouped.back().p);
        }
        const auto share = [&](const std::vector<double>& q) {
            std::set<std::size_t> named;
            for (std::size_t i = 0; i < q.size(); ++i) {
                if (q[i] <= 0.05) {
                    named.insert(grouped[i].group);
                }
            }
            return static_cast<double>(named.size() - bad) / static_cast<double>(named.size());
        };
        false_share += share(benjamini_bogomolov(grouped, tests, 0.05)) / fleets;
        false_share_of_one_family += share(benjamini_hochberg(p)) / fleets;
    }
    CHECK(false_share < 0.06);
    CHECK(false_share_of_one_family > 0.2);
}
