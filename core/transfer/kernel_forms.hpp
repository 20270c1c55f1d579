// The forms that this processor can run.
//
// Threads  the tables are constant; any thread may ask.
#pragma once

#include <span>
#include <vector>

#include "core/transfer/kernel.hpp"

namespace memsweep::transfer {

// Level by level, the widest last; the C library's own after them.
[[nodiscard]] const std::vector<Form>& runnable_forms();

// The simplest form of the widest level: straight on, without prefetching; nullptr where a kernel has no such store.
[[nodiscard]] const Form* simplest_form(Kernel kernel, Store store);

// What a calibration chooses among: the forms of the widest level, and those of no level.
[[nodiscard]] std::vector<const Form*> candidates(Kernel kernel);

}  // namespace memsweep::transfer
