// A resource that the system refused, told from an exception: no bug, and its own kind of failure.
#pragma once

#include <exception>

namespace memsweep::base {

// What was refused and which limit may be behind it, as in "memory (limits: ulimit -v, ulimit -d, the control group)";
// nullptr where the exception says something else. Allocates nothing: there may be no memory left.
[[nodiscard]] const char* refused_resource(const std::exception& problem) noexcept;

}  // namespace memsweep::base
