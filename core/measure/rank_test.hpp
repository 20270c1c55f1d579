// The Mann-Whitney U test, two-sided: do two samples come from one distribution, judged by their ranks alone?
//
// Sources  Mann and Whitney 1947; exact by counting arrangements, else the normal approximation with tie and
//          continuity correction. Agrees with scipy.stats.mannwhitneyu, methods exact and asymptotic, to 1e-12.
// Cost     the exact distribution of n x m values takes about n^2 m^2 additions: 0.9 ms at 50 x 50 on a 2-core VM.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace memsweep::measure {

// Above it the distribution is close enough to normal that counting it would only cost time.
inline constexpr std::size_t largest_exact_product = 2500;

struct RankTest {
    double u{};    // pairs in which the first sample is greater, ties counted half
    double p{1};   // two-sided
    bool exact{};  // by counting; false: the normal approximation
};

// Both samples hold at least one value.
[[nodiscard]] RankTest rank_test(std::span<const double> first, std::span<const double> second);

// The parts of it: two-sided p of U by its distribution, or by the normal one (`tie_term` as in ranks.hpp), and the
// least that n against m values can give, when they do not overlap.
[[nodiscard]] double exact_p(double u, std::span<const double> distribution);
[[nodiscard]] double normal_p(double u, std::size_t n, std::size_t m, double tie_term);
[[nodiscard]] double least_p(std::size_t n, std::size_t m);

// P(U = 0), P(U = 1), ... P(U = n m) for untied samples of n and m values of one distribution.
[[nodiscard]] std::vector<double> u_distribution(std::size_t n, std::size_t m);

}  // namespace memsweep::measure
