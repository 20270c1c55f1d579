// Excuses changes between two results that may come from the machine instead of the case.
#pragma once

#include "core/measure/comparison.hpp"
#include "core/model/report.hpp"

namespace memsweep::measure {

// Makes a change of a time or throughput inconclusive, with the reason, if the machine may have caused the change. The
// machine may have caused it in three cases: its load explains the change, the fixed work that was timed in the rounds
// of both results changed as much, or other work disturbed the repetitions. Changes of counts are never excused. Call
// this only for two results that ran one after the other. If both sides are in one result, their repetitions alternate,
// so a busy machine affects both. If one side of such a result waits longer, this side itself is the cause.
void excuse_machine(Comparison& comparison, const model::RunReport& base, const model::RunReport& candidate);

}  // namespace memsweep::measure
