// Changes between two results that the machine explains are none that a case made.
#pragma once

#include "core/measure/comparison.hpp"
#include "core/model/report.hpp"

namespace memsweep::measure {

// Makes changes of times and throughputs inconclusive, with the reason, if they follow from the load of the machine or
// from what fixed work in the rounds of both results changed by, or may follow from other work. Only for two results
// that ran one after the other: within one result the repetitions of both sides alternate, so that a busy machine hits
// both, and what one side waits there is its own doing. Counts are never excused.
void excuse_machine(Comparison& comparison, const model::RunReport& base, const model::RunReport& candidate);

}  // namespace memsweep::measure
