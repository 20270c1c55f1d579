#include "core/measure/hodges_lehmann.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/base/assert.hpp"
#include "core/measure/rank_test.hpp"

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

    // Of those sorted: the least number that so many of them do not exceed.
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
