// The first writes to an array's memory: touches, which make it resident, and fills.
#pragma once

#include <cstdint>

#include "core/model/elements.hpp"

namespace memsweep::array {

// The pages that [ptr, ptr + bytes) lies on, even in part. `page_bytes` is a power of two.
[[nodiscard]] std::uint64_t pages_spanned(const void* ptr, std::uint64_t bytes, std::uint64_t page_bytes) noexcept;

// Makes memory resident: the kernel provides a page at the first write to it. What is written is zero, so that memory
// which reads as zeros still does. Returns the number of pages written: all that the range spans, or none.
//
// Units    bytes, pages; a page is the system's base page, whatever backs it.
// Cost     page: one store per page; full: one memset.
std::uint64_t touch(void* ptr, std::uint64_t bytes, model::Touch touch) noexcept;

// Fills contiguous elements with what a scenario asks for, writing every byte; Fill::none writes nothing. `ptr` is
// aligned for the type.
//
// Cost     one pass of stores; simple loops that GCC vectorises.
// Sources  values as NumPy's: arange counts 0, 1, 2, ... converted to the type, so that integers wrap, bool is
//          "not zero" and float16 rounds, then reaches infinity. decimal128 holds the integer in its low 8 bytes.
void fill(void* ptr, std::uint64_t elements, model::DType dtype, model::Fill fill) noexcept;

}  // namespace memsweep::array
