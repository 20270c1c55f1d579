// How often this process has asked its allocator for memory, be it by new or by malloc, from our code or a library's.
#pragma once

#include <cstdint>

namespace memsweep::tests {

[[nodiscard]] std::uint64_t allocation_count() noexcept;

// A sanitizer has shadow memory whose pages are touched along with ours, and a thread that touches some of its own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace memsweep::tests
