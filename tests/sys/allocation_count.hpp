// How often this process has asked its allocator for memory, be it by new or by malloc, from our code or a library's.
#pragma once

#include <cstdint>

#include "tests/support/sanitized.hpp"

namespace memsweep::tests {

[[nodiscard]] std::uint64_t allocation_count() noexcept;

}  // namespace memsweep::tests
