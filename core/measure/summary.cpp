#include "core/measure/summary.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/assert.hpp"

namespace memsweep::measure {
namespace {

using model::Stat;
using model::Summary;

constexpr std::size_t min_values_for_tails = 20;  // p05 of fewer values is little more than the minimum

std::vector<double> sorted_present(std::span<const std::optional<double>> values)
{
    std::vector<double> sorted = present(values);
    std::ranges::sort(sorted);
    return sorted;
}

double median_deviation(std::span<const double> values, double centre)
{
    std::vector<double> deviations(values.size());
    std::ranges::transform(values, deviations.begin(), [&](double value) { return std::fabs(value - centre); });
    return median(std::move(deviations));
}

std::optional<double> sample_deviation(std::span<const double> values, double mean)
{
    if (values.size() < 2) {
        return std::nullopt;
    }
    double squares = 0;
    for (const double value : values) {
        squares += (value - mean) * (value - mean);
    }
    return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

std::optional<double> end_of(const std::optional<std::array<double, 2>>& interval, std::size_t which)
{
    return interval ? std::optional{(*interval)[which]} : std::nullopt;
}

}  // namespace

model::MetricClass observed_class(const model::Metric& metric)
{
    if (metric.metric_class == model::MetricClass::noisy) {
        return metric.metric_class;
    }
    const std::vector<double> values = present(metric.values);
    const bool repeats = std::ranges::adjacent_find(values, std::not_equal_to{}) == values.end();
    return repeats ? metric.metric_class : model::MetricClass::noisy;
}

std::vector<double> present(std::span<const std::optional<double>> values)
{
    std::vector<double> there;
    for (const auto& value : values) {
        if (value) {
            there.push_back(*value);
        }
    }
    return there;
}

Summary summary_of_sorted(std::span<const double> sorted)
{
    Summary summary;
    summary.n = sorted.size();
    summary.min = sorted.front();
    summary.max = sorted.back();
    summary.mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / static_cast<double>(sorted.size());
    summary.median = median_of_sorted(sorted);
    summary.mad = median_deviation(sorted, summary.median);
    if (summary.median != 0) {
        summary.mdape = summary.mad / std::fabs(summary.median);
    }
    summary.stddev = sample_deviation(sorted, summary.mean);
    if (const std::size_t rank = median_interval_rank(sorted.size()); rank > 0) {
        summary.ci95 = {sorted[rank - 1], sorted[sorted.size() - rank]};
    }
    if (sorted.size() >= min_values_for_tails) {
        summary.p05 = percentile(sorted, 5);
        summary.p95 = percentile(sorted, 95);
    }
    const auto is_outlier = [&](double value) {
        return std::fabs(value - summary.median) > outlier_distance * summary.mad;
    };
    summary.outliers = static_cast<std::uint64_t>(std::ranges::count_if(sorted, is_outlier));
    return summary;
}

std::optional<Summary> summarize(std::span<const std::optional<double>> values)
{
    const std::vector<double> sorted = sorted_present(values);
    return sorted.empty() ? std::nullopt : std::optional{summary_of_sorted(sorted)};
}

double percentile(std::span<const double> sorted, double percent)
{
    MEMSWEEP_ASSERT(!sorted.empty() && percent >= 0 && percent <= 100, "a percentile is of values, within 0..100");
    const double place = percent / 100 * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

double median_of_sorted(std::span<const double> sorted)
{
    MEMSWEEP_ASSERT(!sorted.empty(), "a median is of values");
    const std::size_t middle = sorted.size() / 2;
    return sorted.size() % 2 == 1 ? sorted[middle] : std::midpoint(sorted[middle - 1], sorted[middle]);
}

double median(std::vector<double> values)
{
    std::ranges::sort(values);
    return median_of_sorted(values);
}

double median_absolute_deviation(std::span<const double> values)
{
    return median_deviation(values, median({values.begin(), values.end()}));
}

std::size_t median_interval_rank(std::size_t n)
{
    // Binomial(n, 1/2) in logarithms: 2^-n leaves a double's range at n = 1075.
    double log_probability = -static_cast<double>(n) * std::log(2.0);
    double below = 0;
    std::size_t rank = 0;
    while (rank < n / 2) {
        below += std::exp(log_probability);
        if (2 * below > 0.05) {
            break;
        }
        log_probability += std::log(static_cast<double>(n - rank) / static_cast<double>(rank + 1));
        ++rank;
    }
    return rank;
}

std::optional<double> stat_of(std::span<const std::optional<double>> values, Stat stat, double percent)
{
    const std::vector<double> sorted = sorted_present(values);
    if (sorted.empty()) {
        return std::nullopt;
    }
    const Summary summary = summary_of_sorted(sorted);
    switch (stat) {
    case Stat::min:
        return summary.min;
    case Stat::max:
        return summary.max;
    case Stat::mean:
        return summary.mean;
    case Stat::median:
        return summary.median;
    case Stat::percentile:
        return percentile(sorted, percent);
    case Stat::mad:
        return summary.mad;
    case Stat::mdape:
        return summary.mdape;
    case Stat::ci_lo:
        return end_of(summary.ci95, 0);
    case Stat::ci_hi:
        return end_of(summary.ci95, 1);
    }
    return std::nullopt;
}

}  // namespace memsweep::measure
