// Distribution-free statistics: ranks, rank correlation, the Mann-Whitney U test, the Hodges-Lehmann shift between two
// samples, and the sign test. Also hypergeometric tail probabilities, and p values adjusted for multiple tests.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace memsweep::measure {

// Ranks of values, from 1. Equal values share the mean of their ranks.
struct Ranks {
    std::vector<double> rank;  // of each value, in the order of the values
    double tie_term{};         // the sum of t^3 - t over all groups of t equal values; 0 without ties
};

[[nodiscard]] Ranks ranks_of(std::span<const double> values);

// Returns Spearman's rho between the values and their positions: 1 if each value is larger than the one before. Returns
// nullopt if there are fewer than two values, or if all are equal.
[[nodiscard]] std::optional<double> spearman_with_order(std::span<const double> values);

// If the product of the two sample sizes is larger than this, U's distribution is taken as normal. The exact
// distribution would take time and give almost the same result.
inline constexpr std::size_t max_exact_product = 2500;

struct RankTest {
    double u{};    // the number of pairs in which the first sample's value is greater; a tie counts half
    double p{1};   // two-sided
    bool exact{};  // p is from the exact distribution; false: from the normal approximation
};

// The two-sided Mann-Whitney U test. It tests by ranks alone whether two samples come from one distribution. Neither
// sample may be empty.
//
// Sources  Mann and Whitney 1947. Exact by counting arrangements, otherwise the normal approximation with tie and
//          continuity correction. Agrees with scipy.stats.mannwhitneyu, methods exact and asymptotic, to 1e-12.
// Cost     for samples of n and m values, the exact distribution takes about n^2 m^2 additions: 0.9 ms for 50 and 50 on
//          a 2-core VM.
[[nodiscard]] RankTest rank_test(std::span<const double> first, std::span<const double> second);

// The parts of rank_test(). exact_p returns the two-sided p of U under its exact distribution. normal_p returns the p
// under the normal approximation (`tie_term`: see Ranks). min_p returns the smallest possible p for samples of n and m
// values: that of samples whose ranges do not overlap.
[[nodiscard]] double exact_p(double u, std::span<const double> distribution);
[[nodiscard]] double normal_p(double u, std::size_t n, std::size_t m, double tie_term);
[[nodiscard]] double min_p(std::size_t n, std::size_t m);

// Returns P(U = 0), P(U = 1), ... P(U = n m) for samples of n and m values from one distribution, without ties.
[[nodiscard]] std::vector<double> u_distribution(std::size_t n, std::size_t m);

// How far the candidate's sample is shifted against the base's sample.
//
// Units    the ratio candidate / base, where 1 means no change. If any value is 0 or negative, ratios are meaningless,
//          and the shift is the difference candidate - base, in the values' unit.
struct Shift {
    bool is_ratio{};
    double estimate{};
    std::optional<std::array<double, 2>> interval;  // at 95 %; empty if there are too few values, such as 3 and 3
};

// Whether all values are positive, so that their ratios are meaningful.
[[nodiscard]] bool all_positive(std::span<const double> values);

// Returns the Hodges-Lehmann estimate with its exact interval. Neither sample may be empty.
//
// Sources  Hodges and Lehmann 1963: the median of all pairwise shifts. The interval lies between two order statistics
//          of these shifts, chosen by the critical value of U. So the interval excludes "no change" exactly if the U
//          test rejects "no change" at 5 %.
// Cost     both samples are sorted. Only a few of the n m shifts are needed; they are found by bisection: at most 64
//          passes over n + m values each. If n m is at most max_exact_product, U's exact distribution is computed too.
// Memory   n + m values.
[[nodiscard]] Shift hodges_lehmann(std::span<const double> base, std::span<const double> candidate);

// Returns the k of the interval d(k)..d(n m + 1 - k), where d are the sorted shifts: the largest k for which 2 P(U < k)
// is at most 5 %. Returns 0 if there is no such k.
[[nodiscard]] std::size_t shift_interval_rank(std::size_t n, std::size_t m);

// Returns the two-sided p of the sign test for n changes, `smaller` of which have the rarer sign. It is exact for up to
// 1,000 changes, else the normal approximation.
[[nodiscard]] double sign_test_p(std::size_t n, std::size_t smaller);

// ln(n!) for all n up to a bound, for binomial and hypergeometric probabilities. Unlike std::lgamma, which writes a
// global variable of glibc, it is safe in several threads.
//
// Cost     one logarithm per entry, in the constructor.
class LogFactorials {
  public:
    explicit LogFactorials(std::size_t bound) : of_(bound + 1)
    {
        for (std::size_t n = 2; n <= bound; ++n) {
            of_[n] = of_[n - 1] + std::log(static_cast<double>(n));
        }
    }
    // Returns the logarithm of the binomial coefficient "n choose k", for k <= n <= the bound.
    [[nodiscard]] double choose(std::size_t n, std::size_t k) const { return of_[n] - of_[k] - of_[n - k]; }

  private:
    std::vector<double> of_;
};

// Draw `of` items at random from `all` items, `marked` of which are marked. Returns the probability that at least
// `drawn` of the items drawn are marked. The bound of `logs` is at least `all`.
[[nodiscard]] double hypergeometric_tail(const LogFactorials& logs, std::size_t all, std::size_t marked, std::size_t of,
                                         std::size_t drawn);

// Adjusted p values. At p <= 0.05, five of a hundred unchanged metrics look changed. If adjusted values are used
// instead, at most 5 % of all alarms are expected to be false.
//
// Sources  Benjamini and Hochberg 1995: q(i) = min over j >= i of p(j) m / j, at most 1. Groups: Benjamini and
//          Bogomolov 2014, with the test of Simes 1986 for a group.

// Returns the adjusted value of each p, in the order of `p`.
[[nodiscard]] std::vector<double> benjamini_hochberg(std::span<const double> p);

// Does the same if `p` has only the smallest p values of `family` tests. Adjusted values up to the smallest p that was
// left out are exact; higher ones may be too high.
[[nodiscard]] std::vector<double> benjamini_hochberg(std::span<const double> p, std::size_t family);

struct GroupedP {
    std::size_t group;
    double p;
};

// Adjusts p values in two stages, for reports that name whole groups, such as a host with all its quantities. A group
// is named if any of its adjusted values is at most `level`. Of the groups named, the expected share of false ones is
// at most `level`. Groups with many tests are named no more easily than groups with few. `smallest` holds the smallest
// p values of each group, `tests` the number of tests in each group.
[[nodiscard]] std::vector<double> benjamini_bogomolov(std::span<const GroupedP> smallest,
                                                      std::span<const std::size_t> tests, double level);

// Each item has a p value in its member `q`. Replaces it by the adjusted value, and removes the items whose adjusted
// value is above `level`. Items with an empty `q` stay. `group_of(item)` is the index of the item's group.
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
