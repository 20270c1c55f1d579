// Statistics that assume no distribution: ranks, rank correlation, the Mann-Whitney U test, the Hodges-Lehmann shift
// between two samples, and the sign test. Also the hypergeometric tail of a count, and p values adjusted for their
// number.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace memsweep::measure {

// Ties share the mean of their ranks.
struct Ranks {
    std::vector<double> rank;  // each value's, from 1
    double tie_term{};         // the sum of t^3 - t over the groups of t equal values; 0 without ties
};

[[nodiscard]] Ranks ranks_of(std::span<const double> values);

// Spearman's rho of the values with their own order: 1 when every repetition is slower than the one before. Empty when
// all values are equal or fewer than two.
[[nodiscard]] std::optional<double> spearman_with_order(std::span<const double> values);

// The product of two sample sizes above which U's distribution is taken as normal: counting it would only cost time.
inline constexpr std::size_t max_exact_product = 2500;

struct RankTest {
    double u{};    // pairs in which the first sample is greater, ties counted half
    double p{1};   // two-sided
    bool exact{};  // by counting; false: the normal approximation
};

// The Mann-Whitney U test, two-sided. It judges by ranks alone whether two samples come from one distribution. Both
// samples hold at least one value.
//
// Sources  Mann and Whitney 1947; exact by counting arrangements, else the normal approximation with tie and
//          continuity correction. Agrees with scipy.stats.mannwhitneyu, methods exact and asymptotic, to 1e-12.
// Cost     the exact distribution of n x m values takes about n^2 m^2 additions: 0.9 ms at 50 x 50 on a 2-core VM.
[[nodiscard]] RankTest rank_test(std::span<const double> first, std::span<const double> second);

// The parts of the test. exact_p: the two-sided p of U by its distribution. normal_p: the p by the normal distribution
// (`tie_term` as in Ranks). min_p: the least p that n and m values can have, which is if they do not overlap.
[[nodiscard]] double exact_p(double u, std::span<const double> distribution);
[[nodiscard]] double normal_p(double u, std::size_t n, std::size_t m, double tie_term);
[[nodiscard]] double min_p(std::size_t n, std::size_t m);

// P(U = 0), P(U = 1), ... P(U = n m) for untied samples of n and m values of one distribution.
[[nodiscard]] std::vector<double> u_distribution(std::size_t n, std::size_t m);

// How far one sample is shifted against another.
//
// Units    a ratio candidate / base, where 1 means no change. If a value is 0 or negative, ratios mean nothing: then a
//          difference candidate - base, in the values' unit.
struct Shift {
    bool is_ratio{};
    double estimate{};
    std::optional<std::array<double, 2>> interval;  // 95 %; empty when so few values cannot reach it (3 against 3)
};

// Whether ratios between the values mean anything.
[[nodiscard]] bool all_positive(std::span<const double> values);

// The Hodges-Lehmann estimate with its exact interval. Both samples hold at least one value.
//
// Sources  Hodges and Lehmann 1963: the median of all pairwise shifts. The interval is a pair of order statistics of
//          the same shifts, at the critical value of U. So it excludes "no change" exactly if the test does.
// Cost     both samples are sorted. Each of the n m shifts that is needed is found by bisection, in at most 64 passes
//          over n + m values. U's distribution is counted up to max_exact_product.
// Memory   n + m values.
[[nodiscard]] Shift hodges_lehmann(std::span<const double> base, std::span<const double> candidate);

// The k of the interval d(k)..d(n m + 1 - k) of the sorted shifts. It is the largest k with 2 P(U < k) <= 5 %; 0: there
// is none.
[[nodiscard]] std::size_t shift_interval_rank(std::size_t n, std::size_t m);

// The two-sided p of the sign test: of n changes, `smaller` are on the rarer side, if both sides are equally likely.
// Exact up to 1,000 changes, else the normal approximation.
[[nodiscard]] double sign_test_p(std::size_t n, std::size_t smaller);

// ln(n!) of all n up to a bound, for binomial and hypergeometric probabilities. std::lgamma would not do: it writes to
// a global of glibc's, so several threads cannot call it.
//
// Cost     one logarithm per entry, once.
class LogFactorials {
  public:
    explicit LogFactorials(std::size_t bound) : of_(bound + 1)
    {
        for (std::size_t n = 2; n <= bound; ++n) {
            of_[n] = of_[n - 1] + std::log(static_cast<double>(n));
        }
    }
    // The logarithm of n over k; k <= n <= the bound.
    [[nodiscard]] double choose(std::size_t n, std::size_t k) const { return of_[n] - of_[k] - of_[n - k]; }

  private:
    std::vector<double> of_;
};

// `of` things are drawn from `all`, of which `marked` carry a mark. Returns the probability that at least `drawn` of
// them carry it. `logs` reaches `all`.
[[nodiscard]] double hypergeometric_tail(const LogFactorials& logs, std::size_t all, std::size_t marked, std::size_t of,
                                         std::size_t drawn);

// Adjusted p values. Of a hundred unchanged metrics, five look changed at p <= 0.05. Adjusted values keep the share of
// false alarms among all alarms at that level instead.
//
// Sources  Benjamini and Hochberg 1995: q(i) = min over j >= i of p(j) m / j, at most 1. Groups: Benjamini and
//          Bogomolov 2014, with the test of Simes 1986 for a group.

// The adjusted value of each p, in the same order.
[[nodiscard]] std::vector<double> benjamini_hochberg(std::span<const double> p);

// The same for a family of which only the smallest p are given. The p left out are no smaller. They could only lower an
// adjusted value that is above theirs.
[[nodiscard]] std::vector<double> benjamini_hochberg(std::span<const double> p, std::size_t family);

struct GroupedP {
    std::size_t group;
    double p;
};

// Adjusts in two stages if whole groups are named, such as a host with all its quantities. A group is named if any of
// its adjusted values is at or below `level`. Of the groups named, at most that share are expected to be false. A group
// with hundreds of tests is not more easily named than one with few. `smallest` holds the smallest p of each group,
// `tests` the number of tests of every group.
[[nodiscard]] std::vector<double> benjamini_bogomolov(std::span<const GroupedP> smallest,
                                                      std::span<const std::size_t> tests, double level);

// Adjusts the p that items have in `q` by their groups, and drops the items above `level`.
template <typename Item, typename GroupOf>
void keep_unlikely(std::vector<Item>& items, GroupOf group_of, std::span<const std::size_t> tests, double level)
{
    std::vector<GroupedP> smallest;
    for (const Item& item : items) {
        if (item.q) {
            smallest.push_back({group_of(item), *item.q});
        }
    }
    const std::vector<double> adjusted = benjamini_bogomolov(smallest, tests, level);
    auto next = adjusted.begin();
    for (Item& item : items) {
        item.q = item.q ? std::optional{*next++} : std::nullopt;
    }
    std::erase_if(items, [&](const Item& item) { return item.q && *item.q > level; });
}

}  // namespace memsweep::measure
