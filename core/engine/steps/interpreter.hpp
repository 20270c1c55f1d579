// Runs one repetition of a program and fills its region.
//
// Cost     one indirect call per instruction, and the work of the operation itself; measured with the null resource and
//          printed with every report. Phases and marks cost two clock reads and a getrusage each.
// Memory   every handle is made and touched before the baseline is taken. After it only the scenario's own arrays are
//          allocated.
// Errors   an allocation refused ends the repetition: state `refused`, with the status and sizes in the record.
// Threads  the calling thread is the program's only mutator; a finalizer's threads belong to the heap.
#pragma once

#include "core/engine/steps/environment.hpp"
#include "core/engine/steps/run_region.hpp"

namespace memsweep::engine {

void run_repetition(const RunRegion& region, CaseMemory& memory, Environment environment);

}  // namespace memsweep::engine
