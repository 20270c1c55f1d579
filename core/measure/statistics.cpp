#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <numbers>
#include <numeric>
#include <vector>

#include "core/base/assert.hpp"
#include "core/measure/statistics.hpp"

namespace memsweep::measure {
namespace {

std::vector<std::size_t> ascending_order(std::span<const double> values)
{
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t index) { return values[index]; });
    return order;
}

std::size_t end_of_tie(std::span<const double> values, std::span<const std::size_t> order, std::size_t first)
{
    std::size_t end = first + 1;
    while (end < order.size() && values[order[end]] <= values[order[first]]) {
        ++end;
    }
    return end;
}

constexpr double half_alpha = 0.025;
constexpr double normal_quantile = 1.959963984540054;  // for 1 - half_alpha

std::vector<double> logarithms(std::span<const double> values)
{
    std::vector<double> logs(values.size());
    std::ranges::transform(values, logs.begin(), [](double value) { return std::log(value); });
    return logs;
}

std::vector<double> sorted(std::span<const double> values)
{
    std::vector<double> copy{values.begin(), values.end()};
    std::ranges::sort(copy);
    return copy;
}

// Doubles as integers of the same order, so that halving an interval of them ends after 64 steps, exactly.
std::uint64_t key_of(double value)
{
    const auto bits = std::bit_cast<std::uint64_t>(value);
    constexpr std::uint64_t sign = 1ULL << 63;
    return (bits & sign) != 0 ? ~bits : bits | sign;
}

double value_of(std::uint64_t key)
{
    constexpr std::uint64_t sign = 1ULL << 63;
    return std::bit_cast<double>((key & sign) != 0 ? key & ~sign : ~key);
}

// Every difference between a value of one sample and one of the other, in order, without ever holding them all: 100,000
// values against as many would fill 80 GB.
class Differences {
  public:
    Differences(std::span<const double> base, std::span<const double> candidate)
        : from_{sorted(base)}, to_{sorted(candidate)}
    {
    }

    [[nodiscard]] std::size_t size() const { return from_.size() * to_.size(); }

    // The difference at this place in their order: the least number that more than `index` of them do not exceed.
    [[nodiscard]] double operator[](std::size_t index) const
    {
        std::uint64_t low = key_of(to_.front() - from_.back());
        std::uint64_t high = key_of(to_.back() - from_.front());
        while (low < high) {
            const std::uint64_t middle = low + (high - low) / 2;
            if (count_up_to(value_of(middle)) > index) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return value_of(low) + 0.0;  // zero without a sign
    }

    [[nodiscard]] double median() const
    {
        const std::size_t middle = size() / 2;
        const double upper = (*this)[middle];
        return size() % 2 == 1 ? upper : std::midpoint((*this)[middle - 1], upper);
    }

  private:
    [[nodiscard]] std::size_t count_up_to(double limit) const
    {
        std::size_t count = 0;
        std::size_t first = 0;
        for (const double to : to_) {
            while (first < from_.size() && !(to - from_[first] <= limit)) {
                ++first;
            }
            count += from_.size() - first;
        }
        return count;
    }

    std::vector<double> from_, to_;
};

Shift shift_of(std::span<const double> base, std::span<const double> candidate)
{
    const Differences differences{base, candidate};
    Shift shift;
    shift.estimate = differences.median();
    if (const std::size_t rank = shift_interval_rank(base.size(), candidate.size()); rank > 0) {
        shift.interval = {differences[rank - 1], differences[differences.size() - rank]};
    }
    return shift;
}

std::size_t exact_rank(std::size_t n, std::size_t m)
{
    const std::vector<double> probability = u_distribution(n, m);
    std::size_t rank = 0;
    for (double below = probability[0]; below <= half_alpha; below += probability[rank]) {
        ++rank;
    }
    return rank;
}

}  // namespace

Ranks ranks_of(std::span<const double> values)
{
    const std::vector<std::size_t> order = ascending_order(values);
    Ranks ranks{std::vector<double>(values.size()), 0};
    for (std::size_t first = 0; first < order.size();) {
        const std::size_t end = end_of_tie(values, order, first);
        for (std::size_t at = first; at < end; ++at) {
            ranks.rank[order[at]] = static_cast<double>(first + 1 + end) / 2;
        }
        const auto tied = static_cast<double>(end - first);
        ranks.tie_term += tied * tied * tied - tied;
        first = end;
    }
    return ranks;
}

std::optional<double> spearman_with_order(std::span<const double> values)
{
    const Ranks ranks = ranks_of(values);
    const double mean = (static_cast<double>(values.size()) + 1) / 2;
    double products = 0;
    double order_squares = 0;
    double rank_squares = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double order = static_cast<double>(i + 1) - mean;
        const double rank = ranks.rank[i] - mean;
        products += order * rank;
        order_squares += order * order;
        rank_squares += rank * rank;
    }
    return rank_squares > 0 ? std::optional{products / std::sqrt(order_squares * rank_squares)} : std::nullopt;
}

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

double min_p(std::size_t n, std::size_t m)
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
    test.exact = ranks.tie_term <= 0 && first.size() * second.size() <= max_exact_product;
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

bool all_positive(std::span<const double> values)
{
    return std::ranges::all_of(values, [](double value) { return value > 0; });
}

Shift hodges_lehmann(std::span<const double> base, std::span<const double> candidate)
{
    MEMSWEEP_ASSERT(!base.empty() && !candidate.empty(), "a shift is between two samples");
    if (!all_positive(base) || !all_positive(candidate)) {
        return shift_of(base, candidate);
    }
    Shift shift = shift_of(logarithms(base), logarithms(candidate));
    shift.is_ratio = true;
    shift.estimate = std::exp(shift.estimate);
    if (shift.interval) {
        shift.interval = {std::exp((*shift.interval)[0]), std::exp((*shift.interval)[1])};
    }
    return shift;
}

std::size_t shift_interval_rank(std::size_t n, std::size_t m)
{
    if (n * m <= max_exact_product) {
        return exact_rank(n, m);
    }
    const double pairs = static_cast<double>(n) * static_cast<double>(m);
    const double deviation = std::sqrt(pairs * static_cast<double>(n + m + 1) / 12);
    const double rank = std::floor(pairs / 2 - normal_quantile * deviation + 0.5);
    return rank >= 1 ? static_cast<std::size_t>(rank) : 0;
}

double sign_test_p(std::size_t n, std::size_t smaller)
{
    constexpr std::size_t max_exact = 1000;
    if (n == 0) {
        return 1;
    }
    const auto count = static_cast<double>(n);
    if (n > max_exact) {
        const double distance = count / 2 - static_cast<double>(smaller) - 0.5;
        return std::min(1.0, std::erfc(distance / (std::sqrt(count) / 2) / std::numbers::sqrt2));
    }
    const LogFactorials logs{n};
    double p = 0;
    for (std::size_t k = 0; k <= smaller; ++k) {
        p += std::exp(logs.choose(n, k) - count * std::numbers::ln2);
    }
    return std::min(1.0, 2 * p);
}

double hypergeometric_tail(const LogFactorials& logs, std::size_t all, std::size_t marked, std::size_t of,
                           std::size_t drawn)
{
    double p = 0;
    for (std::size_t k = drawn; k <= std::min(marked, of); ++k) {
        if (of - k <= all - marked) {
            p += std::exp(logs.choose(marked, k) + logs.choose(all - marked, of - k) - logs.choose(all, of));
        }
    }
    return std::min(1.0, p);
}

std::vector<double> benjamini_hochberg(std::span<const double> p)
{
    return benjamini_hochberg(p, p.size());
}

std::vector<double> benjamini_hochberg(std::span<const double> p, std::size_t family)
{
    const std::vector<std::size_t> order = ascending_order(p);
    std::vector<double> q(p.size());
    double least = 1;
    for (std::size_t place = p.size(); place > 0; --place) {
        const std::size_t index = order[place - 1];
        least = std::min(least, p[index] * static_cast<double>(family) / static_cast<double>(place));
        q[index] = least;
    }
    return q;
}

std::vector<double> benjamini_bogomolov(std::span<const GroupedP> smallest, std::span<const std::size_t> tests,
                                        double level)
{
    std::map<std::size_t, std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < smallest.size(); ++i) {
        groups[smallest[i].group].push_back(i);
    }
    std::vector<double> adjusted(smallest.size());
    std::vector<double> of_groups;
    for (const auto& [group, members] : groups) {
        std::vector<double> p;
        for (const std::size_t member : members) {
            p.push_back(smallest[member].p);
        }
        const std::vector<double> q = benjamini_hochberg(p, tests[group]);
        for (std::size_t i = 0; i < members.size(); ++i) {
            adjusted[members[i]] = q[i];
        }
        of_groups.push_back(std::ranges::min(q));
    }
    const auto tested = tests.size() - static_cast<std::size_t>(std::ranges::count(tests, std::size_t{0}));
    const std::vector<double> q = benjamini_hochberg(of_groups, tested);
    const auto selected = std::ranges::count_if(q, [&](double one) { return one <= level; });
    const double factor = static_cast<double>(tested) / static_cast<double>(std::max<std::ptrdiff_t>(selected, 1));
    for (double& one : adjusted) {
        one = std::min(1.0, one * factor);
    }
    return adjusted;
}

}  // namespace memsweep::measure
