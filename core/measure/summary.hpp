// Summarizes the repetitions of a quantity: location, spread, and the confidence interval of the median.
//
// Units    those of the values; percentiles from 0 to 100; mdape is the median absolute deviation as a fraction of the
//          median.
// Sources  the median's interval: order statistics x(k)..x(n+1-k), for the largest k with 2 P(Bin(n, 1/2) < k) <= 5 %.
//          For n = 6 it is x1..x6, at 96.9 %. The interval assumes no distribution.
//          Percentiles interpolate linearly (NumPy's default).
// Cost     one sorted copy of the values.
// Errors   none: statistics that need more values are absent.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/model/assertion.hpp"
#include "core/model/metric.hpp"

namespace memsweep::measure {

// The standard deviation of normally distributed values, divided by their median absolute deviation.
inline constexpr double normal_deviations = 1.4826;

// A value further than this many median absolute deviations from the median is an outlier. For normally distributed
// values, this distance is five standard deviations.
inline constexpr double outlier_distance = 5 * normal_deviations;

// Returns the values that are not empty, in their order.
[[nodiscard]] std::vector<double> present(std::span<const std::optional<double>> values);

// Returns the class by which a metric's values are compared. An exact counter whose values differ between repetitions
// counts as noisy. Many counters of foreign programs vary, because what they allocate depends on addresses or random
// seeds.
[[nodiscard]] model::MetricClass observed_class(const model::Metric& metric);

// Returns the statistics of the values; nullopt if all values are empty. Outliers are counted, never left out.
[[nodiscard]] std::optional<model::Summary> summarize(std::span<const std::optional<double>> values);

// The next functions need at least one value. `sorted` is in ascending order.
[[nodiscard]] double percentile(std::span<const double> sorted, double percent);
[[nodiscard]] double median_of_sorted(std::span<const double> sorted);
[[nodiscard]] model::Summary summary_of_sorted(std::span<const double> sorted);
[[nodiscard]] double median(std::vector<double> values);
[[nodiscard]] double median_absolute_deviation(std::span<const double> values);

// Returns the k of the median's interval x(k)..x(n+1-k); 0 if n values are too few for an interval at 95 %.
[[nodiscard]] std::size_t median_interval_rank(std::size_t n);

// Returns one statistic of the values, or nullopt in three cases: there are no values; `stat` is ci_lo or ci_hi and
// there are fewer than 6 values; `stat` is mdape and the median is 0.
[[nodiscard]] std::optional<double> stat_of(std::span<const std::optional<double>> values, model::Stat stat,
                                            double percent);

}  // namespace memsweep::measure
