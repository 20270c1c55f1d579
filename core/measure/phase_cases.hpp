// The phases of the cases of a result as cases of their own, so that what compares cases compares phases too: each
// phase of a case is a case with one more parameter, `phase`, and its time, its faults and their causes as metrics.
//
// Cost     one case per case and phase; points and series stay behind.
// Errors   a case without phases (skipped, or of an earlier version) leaves nothing.
#pragma once

#include <string_view>

#include "core/model/report.hpp"

namespace memsweep::measure {

inline constexpr std::string_view phase_axis = "phase";

[[nodiscard]] model::RunReport by_phase(const model::RunReport& report);

// Whether a scenario of the result has an axis of this name itself, which then is meant.
[[nodiscard]] bool has_phase_axis(const model::RunReport& report);

}  // namespace memsweep::measure
