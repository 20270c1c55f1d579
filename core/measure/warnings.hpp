// What makes a case's times less trustworthy than they look, and what to do about it.
//
// One metric is judged: wall_time, or time_per_op where there is no wall_time. One is the other over a constant, so
// judging both would repeat everything.
//
// Sources  outliers and a slow first repetition: further than 5 x 1.4826 x MAD from the median, from 5 values; drift:
//          |Spearman's rho| of order and value > 0.6, from 8 values; noise: MdAPE above 5 %. Values are never dropped.
// Errors   none: a case without times has no warnings.
#pragma once

#include <optional>
#include <vector>

#include "core/model/report.hpp"

namespace memsweep::measure {

// Code: unverified-profile. Of a case whose collections follow a profile that nothing has confirmed.
[[nodiscard]] std::optional<model::Warning> profile_warning(const model::CaseReport& report);

// Codes: few-repetitions, coarse-clock, slow-first-repetition, outliers, drift, noisy. Messages name the case.
[[nodiscard]] std::vector<model::Warning> noise_warnings(const model::CaseReport& report);

}  // namespace memsweep::measure
