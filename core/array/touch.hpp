// Writes that make memory resident: the kernel gives a page at the first write to it.
//
// Units    bytes, pages; a page is the system's base page, whatever backs it.
// Cost     page: one store per page; full: one memset.
// Memory   what is written is zero, so that memory which reads as zeros still does.
#pragma once

#include <cstdint>

#include "core/model/step.hpp"

namespace memsweep::array {

// Pages that [ptr, ptr + bytes) lies on, even in part. page_bytes is a power of two.
[[nodiscard]] std::uint64_t pages_spanned(const void* ptr, std::uint64_t bytes, std::uint64_t page_bytes) noexcept;

// Returns the number of pages written: all that the range spans, or none.
std::uint64_t touch(void* ptr, std::uint64_t bytes, model::Touch touch) noexcept;

}  // namespace memsweep::array
