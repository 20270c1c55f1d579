// Runs one repetition of a program, and writes the measurements into its region (run_region.hpp).
//
// Cost     at most one indirect call per instruction, and the work of the operation itself. The cost of making and
//          dropping an array is measured with the null resource and printed with the report. The comment of Stopwatch
//          says what memsweep adds to phases and timed steps.
// Memory   every handle is made and touched before the baseline, which is the state of the memory before the first
//          step. After the baseline only the scenario's own arrays are allocated.
// Errors   a refused allocation ends the repetition: state `refused`, with the status and sizes in the record.
// Threads  the calling thread runs all steps but those of parallel blocks (thread_pool.hpp). Finalizer threads belong
//          to the heap.
#pragma once

#include "core/engine/steps/environment.hpp"
#include "core/engine/steps/run_region.hpp"

namespace memsweep::engine {

void run_repetition(const RunRegion& region, CaseMemory& memory, Environment environment);

}  // namespace memsweep::engine
