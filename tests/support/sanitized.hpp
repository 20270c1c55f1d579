// Sanitizers keep shadow memory, whose pages are touched along with ours, and a thread that touches some of its own:
// the resident set and its faults then exceed what the program touched.
#pragma once

namespace memsweep::tests {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace memsweep::tests
