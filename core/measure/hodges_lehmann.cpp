#include "core/measure/hodges_lehmann.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/assert.hpp"
#include "core/measure/rank_test.hpp"
#include "core/measure/summary.hpp"

namespace memsweep::measure {
namespace {

constexpr double half_alpha = 0.025;
constexpr double normal_quantile = 1.959963984540054;  // of 1 - half_alpha

bool all_positive(std::span<const double> values)
{
    return std::ranges::all_of(values, [](double value) { return value > 0; });
}

std::vector<double> logarithms(std::span<const double> values)
{
    std::vector<double> logs(values.size());
    std::ranges::transform(values, logs.begin(), [](double value) { return std::log(value); });
    return logs;
}

std::vector<double> sorted_differences(std::span<const double> base, std::span<const double> candidate)
{
    std::vector<double> differences;
    differences.reserve(base.size() * candidate.size());
    for (const double from : base) {
        for (const double to : candidate) {
            differences.push_back(to - from);
        }
    }
    std::ranges::sort(differences);
    return differences;
}

Shift shift_of(std::span<const double> base, std::span<const double> candidate)
{
    const std::vector<double> differences = sorted_differences(base, candidate);
    Shift shift;
    shift.estimate = median_of_sorted(differences);
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
    if (n * m <= largest_exact_product) {
        return exact_rank(n, m);
    }
    const double pairs = static_cast<double>(n) * static_cast<double>(m);
    const double deviation = std::sqrt(pairs * static_cast<double>(n + m + 1) / 12);
    const double rank = std::floor(pairs / 2 - normal_quantile * deviation + 0.5);
    return rank >= 1 ? static_cast<std::size_t>(rank) : 0;
}

}  // namespace memsweep::measure
