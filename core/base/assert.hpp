// MEMSWEEP_ASSERT: a broken invariant is a bug; it stops the process in every build and says why.
#pragma once

namespace memsweep::base {

[[noreturn]] void assertion_failed(const char* condition, const char* why, const char* file, int line) noexcept;

}  // namespace memsweep::base

#define MEMSWEEP_ASSERT(condition, why)                                                                                \
    (static_cast<bool>(condition) ? static_cast<void>(0)                                                               \
                                  : ::memsweep::base::assertion_failed(#condition, why, __FILE__, __LINE__))
