// Excuses changes between two results that may come from the machine instead of the case.
#pragma once

#include "core/measure/comparison.hpp"
#include "core/model/report.hpp"

namespace memsweep::measure {

// Makes a change of a time or throughput inconclusive, with the reason, if the load of the machine explains the change,
// if fixed work in the rounds of both results changed as much, or if other work may have caused it. Counts are never
// excused. Call this only for two results that ran one after the other. Within one result the repetitions of both sides
// alternate, so a busy machine affects both. A side that waits longer then causes this itself.
void excuse_machine(Comparison& comparison, const model::RunReport& base, const model::RunReport& candidate);

}  // namespace memsweep::measure
