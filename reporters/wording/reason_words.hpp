// The reasons for a verdict, in words.
#pragma once

#include <string>
#include <string_view>

#include "core/measure/reasons.hpp"

namespace memsweep::reporters {

// Writes a reason: "+20.0 % (95 % interval +18.2 % to +21.9 %), more than the 5 % allowed; q = 0.0079". Empty: no
// reason is given.
[[nodiscard]] std::string reason_text(const measure::Reason& reason);

// Names the work that was timed: "a copy of 4 MiB".
[[nodiscard]] std::string_view work_text(measure::TimedWork work);

// Says how much of the extra time the machine explains. The text ends in the middle of a sentence: the caller appends
// how much is allowed. For example "of 8.00 ms more, waiting for a processor explains 88 % (7.04 ms), page faults at
// 900.0 ns each instead of 500.0 ns explain 10 % (800.0 us); what is left, 0.2 % of the base, is". If the parts add up
// to more than 120 %, the text has the times of the parts, but no shares.
[[nodiscard]] std::string machine_text(const measure::MachineContrast& machine, double base);

}  // namespace memsweep::reporters
