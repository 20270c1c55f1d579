#include "core/measure/rank_test.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>

#include "core/base/assert.hpp"
#include "core/measure/ranks.hpp"

namespace memsweep::measure {

double exact_p(double u, std::span<const double> distribution)
{
    const auto most = static_cast<double>(distribution.size() - 1);
    const auto greater = static_cast<std::ptrdiff_t>(std::max(u, most - u));
    const double tail = std::accumulate(distribution.rbegin(), distribution.rend() - greater, 0.0);
    return std::min(1.0, 2 * tail);
}

double normal_p(double u, std::size_t first, std::size_t second, double tie_term)
{
    const auto n = static_cast<double>(first);
    const auto m = static_cast<double>(second);
    const double total = n + m;
    const double variance = n * m / 12 * (total + 1 - tie_term / (total * (total - 1)));
    if (variance <= 0) {
        return 1;  // every value is the same
    }
    const double distance = std::fabs(u - n * m / 2) - 0.5;
    return std::min(1.0, std::erfc(distance / std::sqrt(variance) / std::numbers::sqrt2));
}

double least_p(std::size_t n, std::size_t m)
{
    double arrangements = 1;
    for (std::size_t i = 1; i <= n; ++i) {
        arrangements *= static_cast<double>(m + i) / static_cast<double>(i);
    }
    return std::min(1.0, 2 / arrangements);
}

RankTest rank_test(std::span<const double> first, std::span<const double> second)
{
    MEMSWEEP_ASSERT(!first.empty() && !second.empty(), "a rank test compares two samples");
    std::vector<double> all{first.begin(), first.end()};
    all.insert(all.end(), second.begin(), second.end());
    const Ranks ranks = ranks_of(all);
    const auto n = static_cast<double>(first.size());
    const double rank_sum =
        std::accumulate(ranks.rank.begin(), ranks.rank.begin() + static_cast<std::ptrdiff_t>(first.size()), 0.0);
    RankTest test;
    test.u = rank_sum - n * (n + 1) / 2;
    test.exact = ranks.tie_term <= 0 && first.size() * second.size() <= largest_exact_product;
    test.p = test.exact ? exact_p(test.u, u_distribution(first.size(), second.size()))
                        : normal_p(test.u, first.size(), second.size(), ranks.tie_term);
    return test;
}

std::vector<double> u_distribution(std::size_t n, std::size_t m)
{
    // U = u in as many arrangements as u has partitions into at most n parts of at most m: parts are added one size
    // after the other, counts[k][u] being those of exactly k parts. Only additions, so nothing cancels; the largest
    // count, 100 over 50, is 1e29.
    const std::size_t most = n * m;
    std::vector<std::vector<double>> counts(n + 1, std::vector<double>(most + 1));
    counts[0][0] = 1;
    for (std::size_t part = 1; part <= m; ++part) {
        for (std::size_t k = 1; k <= n; ++k) {
            for (std::size_t u = part; u <= k * part; ++u) {
                counts[k][u] += counts[k - 1][u - part];
            }
        }
    }
    std::vector<double> probability(most + 1);
    for (const auto& of_k_parts : counts) {
        std::ranges::transform(probability, of_k_parts, probability.begin(), std::plus{});
    }
    const double arrangements = std::accumulate(probability.begin(), probability.end(), 0.0);
    std::ranges::transform(probability, probability.begin(), [&](double count) { return count / arrangements; });
    return probability;
}

}  // namespace memsweep::measure
