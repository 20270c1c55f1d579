// Recognises exceptions whose cause is that the system refused a resource, such as memory. Such an exception is no bug
// of memsweep.
#pragma once

#include <exception>

namespace memsweep::base {

// The refused resource and the limits that may be the cause: "memory (limits: ulimit -v, ulimit -d, the control
// group)"; nullptr for any other exception. Allocates nothing, because there may be no memory left.
[[nodiscard]] const char* refused_resource(const std::exception& problem) noexcept;

}  // namespace memsweep::base
