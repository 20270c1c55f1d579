// Sanitizers keep shadow memory, whose pages are touched along with ours, and a thread that touches some of its own:
// the resident set and its faults then exceed what the program touched. Their allocator stands in for libc's.
#pragma once

#include "core/base/sanitizers.hpp"

namespace memsweep::tests {

inline constexpr bool sanitized = MEMSWEEP_ADDRESS_SANITIZER != 0 || MEMSWEEP_THREAD_SANITIZER != 0;

}  // namespace memsweep::tests
