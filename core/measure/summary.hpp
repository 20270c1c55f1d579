// Summarizes a handful of repetitions of a quantity: location, spread, and how far the median can be trusted.
//
// Units    those of the values; percentiles in 0..100; mdape is a fraction of the median.
// Sources  the median's interval: order statistics x(k)..x(n+1-k) for the largest k with 2 P(Bin(n, 1/2) < k) <= 5 % (n
//          = 6: x1..x6, 96.9 %). It assumes no distribution. Percentiles interpolate linearly (NumPy's default).
// Cost     one sorted copy of the values.
// Errors   none: what too few values cannot show is absent.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/model/assertion.hpp"
#include "core/model/metric.hpp"

namespace memsweep::measure {

// The standard deviations of normal noise in one median absolute deviation.
inline constexpr double normal_deviations = 1.4826;

// A value further than this many median absolute deviations from the median is an outlier: five robust standard
// deviations.
inline constexpr double outlier_distance = 5 * normal_deviations;

// The values that are present, in their order.
[[nodiscard]] std::vector<double> present(std::span<const std::optional<double>> values);

// The class by which a metric's values are compared. An exact counter that did not repeat counts as noisy. Many
// counters of foreign programs vary, because allocations follow addresses or random seeds.
[[nodiscard]] model::MetricClass observed_class(const model::Metric& metric);

// Empty when no value is there. Values are never dropped.
[[nodiscard]] std::optional<model::Summary> summarize(std::span<const std::optional<double>> values);

// The statistics of at least one value. `sorted`: in ascending order.
[[nodiscard]] double percentile(std::span<const double> sorted, double percent);
[[nodiscard]] double median_of_sorted(std::span<const double> sorted);
[[nodiscard]] model::Summary summary_of_sorted(std::span<const double> sorted);
[[nodiscard]] double median(std::vector<double> values);
[[nodiscard]] double median_absolute_deviation(std::span<const double> values);

// The k of the median's interval x(k)..x(n+1-k); 0 when n values cannot reach 95 %.
[[nodiscard]] std::size_t median_interval_rank(std::size_t n);

// Empty without values, for ci_lo and ci_hi below 6 values, and for mdape around a median of 0.
[[nodiscard]] std::optional<double> stat_of(std::span<const std::optional<double>> values, model::Stat stat,
                                            double percent);

}  // namespace memsweep::measure
