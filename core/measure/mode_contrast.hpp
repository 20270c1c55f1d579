// What a release mode costs, told against the mode it is measured beside: "finalizer: 7.2x the time per array of
// refcount (95 % interval 6.8 to 7.6); page faults explain 81 % of the extra time (...); holds 762.9 MiB after drop".
//
// Errors   none: an absent metric leaves its part out; a case with nothing to tell has no sentence.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/model/report.hpp"

namespace memsweep::measure {

// One sentence per case that ran and has a counterpart differing only in the axis `mode`: refcount where there is one,
// else the first of the group. Above 8, those with the largest differences in time, and one line on the rest.
[[nodiscard]] std::vector<std::string> mode_sentences(std::span<const model::CaseReport> cases);

}  // namespace memsweep::measure
