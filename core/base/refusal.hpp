// Recognises exceptions whose cause is that the system refused a resource, such as memory. Such an exception is no bug
// of memsweep.
#pragma once

#include <exception>

namespace memsweep::base {

// Returns the refused resource and the limits that may be the cause, for example "memory (limits: ulimit -v, ulimit -d,
// the control group)". Returns nullptr if the exception has another cause. Allocates nothing, because there may be no
// memory left.
[[nodiscard]] const char* refused_resource(const std::exception& problem) noexcept;

}  // namespace memsweep::base
