// Changes between two results that the machine explains are none that a case made.
#pragma once

#include "core/measure/comparison.hpp"
#include "core/model/report.hpp"

namespace memsweep::measure {

// Makes inconclusive, with the reason, which changes of times and throughputs follow from the load of the machine, from
// what fixed work in the rounds of both results changed by, or may follow from other work. Only of two results that ran
// one after the other: within one the repetitions of both sides alternate, so that a busy machine hits both, and what
// one side waits there is its own doing. Counts are never excused.
void excuse_machine(Comparison& comparison, const model::RunReport& base, const model::RunReport& candidate);

}  // namespace memsweep::measure
