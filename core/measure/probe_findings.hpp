// What a probe found out about a machine's memory, in sentences: what it delivers, what non-temporal stores bring, what
// a load waits by size of the working set, what several loads at once and the first write to a page make of it.
//
// Units    medians, written out with their units; factors with the 95 % interval of Hodges and Lehmann's estimate.
// Errors   none: what was not measured is not spoken of.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/model/report.hpp"

namespace memsweep::measure {

// None where no case is a probe's.
[[nodiscard]] std::vector<std::string> probe_sentences(std::span<const model::CaseReport> cases);

}  // namespace memsweep::measure
