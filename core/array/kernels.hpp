// Functions that run once over the bytes of an array: fills, touches and checksums.
#pragma once

#include <cstdint>

#include "core/model/elements.hpp"

namespace memsweep::array {

// The pages that [ptr, ptr + bytes) lies on, even in part. `page_bytes` is a power of two.
[[nodiscard]] std::uint64_t pages_spanned(const void* ptr, std::uint64_t bytes, std::uint64_t page_bytes) noexcept;

// Makes memory resident: the kernel provides a page at the first write to it. Writes zeros, so that memory that read as
// zeros still does. Returns the number of pages written: all that the range spans, or none.
//
// Units    bytes, pages; a page is the system's base page, whatever backs it.
// Cost     page: one store per page; full: one memset.
std::uint64_t touch(void* ptr, std::uint64_t bytes, model::Touch touch) noexcept;

// Writes over memory as a program with real data does: every byte, and none of them with zero, because some processors
// write zeroes at twice the rate of anything else.
//
// Cost     one memset.
void write_over(void* ptr, std::uint64_t bytes) noexcept;

// Fills contiguous elements with what a scenario asks for, writing every byte; Fill::none writes nothing. `ptr` is
// aligned for the type.
//
// Cost     one pass of stores; simple loops that GCC vectorises.
// Sources  values as NumPy's: arange counts 0, 1, 2, ... converted to the type, so that integers wrap, bool is
//          "not zero" and float16 rounds, then reaches infinity. decimal128 holds the integer in its low 8 bytes.
void fill(void* ptr, std::uint64_t elements, model::DType dtype, model::Fill fill) noexcept;

// A checksum over every byte of an array, which proves that what a program reads does not depend on when memory is
// released.
//
// Units    bytes. The sum is of 64-bit words, modulo 2^64: the order within an array does not matter, but the position
//          of an array among others does.
// Cost     reads each byte once, at memory bandwidth.
inline constexpr std::uint64_t checksum_factor = 0x9E37'79B9'7F4A'7C15;

[[nodiscard]] std::uint64_t checksum(const void* data, std::uint64_t bytes) noexcept;

// A checksum to which the order of the 64-byte stretches within the array matters too. The comparison of two results
// needs it, because a plain sum does not show that elements changed places.
[[nodiscard]] std::uint64_t ordered_checksum(const void* data, std::uint64_t bytes) noexcept;

// The total after one more array; below 2^53, so that a double holds it.
[[nodiscard]] constexpr std::uint64_t chained(std::uint64_t total, std::uint64_t sum) noexcept
{
    return (total * checksum_factor + sum) & ((std::uint64_t{1} << 53U) - 1);
}

}  // namespace memsweep::array
