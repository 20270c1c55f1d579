// Changes and thresholds, as sentences show them.
#pragma once

#include <string>

#include "core/measure/statistics.hpp"
#include "core/measure/threshold.hpp"
#include "core/model/metric.hpp"

namespace memsweep::reporters {

// Writes a threshold: "2 % and 1.00 MiB", "5 %", "0.1 %, at most 4.00 KiB", "1", or "0" if every change counts.
[[nodiscard]] std::string threshold_text(const measure::Threshold& threshold, model::Unit unit);

// Writes a factor: "1.50", "0.997", "1.0003". Factors near 1 have enough digits to show a change of one page in a
// gigabyte.
[[nodiscard]] std::string factor_text(double factor);

// Writes a ratio as "+5.2 %", or from a factor of 2 on as "3.1x". Writes a difference as "+64".
[[nodiscard]] std::string signed_change(model::Unit unit, bool is_ratio, double value, int digits);

// Writes the estimate of a shift like signed_change(), with its interval if it has one: "+5.2 % (95 % interval +4.1 %
// to +6.0 %)".
[[nodiscard]] std::string signed_shift(model::Unit unit, const measure::Shift& shift);

// Writes a ratio as a factor: "1.10x". Writes a difference in the metric's unit: "+8 B". A ratio that would read as
// 1.00x is written as a difference instead.
[[nodiscard]] std::string brief_shift_text(model::Unit unit, const measure::Shift& shift, double base_median);

// Writes both values: "300 instead of 100". If the ratio of the values would read as 1.00x, writes the difference and
// the candidate's value: "+8 B (3.26 MiB)".
[[nodiscard]] std::string instead_of(model::Unit unit, double base_median, double candidate_median);

// Writes a shift: "1.10x (95 % interval 1.09 to 1.12)", "+64 (95 % interval +60 to +70)", "+0.51 % (95 % interval +0.48
// % to +0.55 %)". A shift without an interval is written as by instead_of().
[[nodiscard]] std::string shift_text(model::Unit unit, const measure::Shift& shift, double base_median,
                                     double candidate_median);

}  // namespace memsweep::reporters
