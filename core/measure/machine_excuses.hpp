// Excuses changes between two results that the machine explains: the case did not make them.
#pragma once

#include "core/measure/comparison.hpp"
#include "core/model/report.hpp"

namespace memsweep::measure {

// Makes changes of times and throughputs inconclusive, with the reason. It does so if the load of the machine explains
// them, if fixed work in the rounds of both results changed as much, or if other work may have made them. Call it only
// for two results that ran one after the other. Within one result the repetitions of both sides alternate, so a busy
// machine hits both, and a side that waits longer does so by itself. Counts are never excused.
void excuse_machine(Comparison& comparison, const model::RunReport& base, const model::RunReport& candidate);

}  // namespace memsweep::measure
