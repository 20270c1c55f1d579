// What a case needs of the machine's devices, found in the worker before anything of the case is made: a device that
// its scenario requires, and the driver that its memory comes from.
//
// Cost     opens the worker's runtime the first time that a case needs one.
// Errors   not_supported: there is no such device, or its driver has no memory of this kind; budget: it would hold more
//          than the device has, or than --max-memory where its memory is the host's. The message says which.
// Threads  the interpreter's.
#pragma once

#include <cstdint>

#include "core/engine/case_memory.hpp"
#include "core/engine/environment.hpp"
#include "core/engine/run_region.hpp"

namespace memsweep::engine {

// nullptr: neither is needed. `device`: what the report calls it, filled once it is found.
[[nodiscard]] base::Expected<device::Runtime*> find_driver(const RunOrder& order, Environment environment,
                                                           DeviceRecord& device);

// The repetition ends here, unmet, with this reason.
void leave_unmet(const RunRegion& region, const base::Error& error);

// Whether what ended the repetition was the driver's refusal, which is then the reason.
[[nodiscard]] bool refused_by_driver(const CaseMemory& memory, RepetitionRecord& record);

}  // namespace memsweep::engine
