// Excuses changes between two results that the machine may have caused, and not the case.
#pragma once

#include "core/measure/comparison.hpp"
#include "core/model/report.hpp"

namespace memsweep::measure {

// Makes a change of a time or throughput inconclusive, with the reason, if the load of the machine explains the change,
// if fixed work in the rounds of both results changed as much, or if other work may have caused it. Counts are never
// excused. Call this only for two results that ran one after the other. Within one result the repetitions of both sides
// alternate, so a busy machine affects both. There, a side that waits longer is itself the cause.
void excuse_machine(Comparison& comparison, const model::RunReport& base, const model::RunReport& candidate);

}  // namespace memsweep::measure
