// The phases of a result's cases as cases of their own, so that what compares cases compares phases too. Each phase of
// a case becomes a case with one more parameter, `phase`, and with its time, its faults and their causes as metrics.
//
// Cost     one case per case and phase; points and series are left out.
// Errors   none: a case without phases (skipped, or of an earlier version) makes no case.
#pragma once

#include <string_view>

#include "core/model/report.hpp"

namespace memsweep::measure {

inline constexpr std::string_view phase_axis = "phase";

[[nodiscard]] model::RunReport by_phase(const model::RunReport& report);

// True when a scenario of the result has an axis of this name itself; `phase` then means that axis.
[[nodiscard]] bool has_phase_axis(const model::RunReport& report);

}  // namespace memsweep::measure
