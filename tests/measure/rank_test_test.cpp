#include "core/measure/nonparametric.hpp"

#include <algorithm>
#include <numeric>

#include "tests/measure/reference_vectors.hpp"
#include "tests/measure/samples.hpp"

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
