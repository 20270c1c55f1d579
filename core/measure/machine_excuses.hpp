// Excuses changes between two results that may come from the machine instead of the case.
#pragma once

#include "core/measure/comparison.hpp"
#include "core/model/report.hpp"

namespace memsweep::measure {

// Makes a change of a time or throughput inconclusive, with the reason, if the machine may have caused the change. That
// is so if its load explains the change, if fixed work in the rounds of both results changed as much, or if other work
// disturbed the repetitions. Changes of counts are never excused. Call this only for two results that ran one after the
// other. Within one result the repetitions of both sides alternate, so a busy machine affects both sides. If one side
// waits longer there, that side itself is the cause.
void excuse_machine(Comparison& comparison, const model::RunReport& base, const model::RunReport& candidate);

}  // namespace memsweep::measure
