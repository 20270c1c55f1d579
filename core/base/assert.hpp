// MEMSWEEP_ASSERT checks an invariant in every build. If the invariant does not hold, which is a bug, the process
// prints the condition and `why`, and stops.
#pragma once

namespace memsweep::base {

[[noreturn]] void assertion_failed(const char* condition, const char* why, const char* file, int line) noexcept;

}  // namespace memsweep::base

#define MEMSWEEP_ASSERT(condition, why)                                                                                \
    (static_cast<bool>(condition) ? static_cast<void>(0)                                                               \
                                  : ::memsweep::base::assertion_failed(#condition, why, __FILE__, __LINE__))
