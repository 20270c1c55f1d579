// Recognises in an exception that the system refused a resource. Such a refusal is no bug, but a failure of its own
// kind.
#pragma once

#include <exception>

namespace memsweep::base {

// The refused resource and the limits that may be behind it, as in "memory (limits: ulimit -v, ulimit -d, the control
// group)"; nullptr if the exception is another one. Allocates nothing: there may be no memory left.
[[nodiscard]] const char* refused_resource(const std::exception& problem) noexcept;

}  // namespace memsweep::base
