// Functions that go over the bytes of an array one time: fills, touches and checksums.
#pragma once

#include <cstdint>

#include "core/model/elements.hpp"

namespace memsweep::array {

// Returns the number of pages that contain at least one byte of [ptr, ptr + bytes). `page_bytes` is a power of two.
[[nodiscard]] std::uint64_t pages_spanned(const void* ptr, std::uint64_t bytes, std::uint64_t page_bytes) noexcept;

// Makes memory resident by writing to it. Writes zeros, so zeroed memory stays zeroed. Returns the number of pages
// written: all pages of the range, or 0 for Touch::none.
//
// Units    bytes, pages. A page is a base page of the system, even if the memory is in a huge page.
// Cost     Touch::page: one store per page; Touch::full: one memset.
std::uint64_t touch(void* ptr, std::uint64_t bytes, model::Touch touch) noexcept;

// Overwrites every byte with a value other than zero, as a program with real data would. Zeros would not do: some
// processors write them at twice the rate of other values.
//
// Cost     one memset.
void write_over(void* ptr, std::uint64_t bytes) noexcept;

// Fills contiguous elements as a scenario requests, writing every byte; Fill::none writes nothing. `ptr` is aligned for
// the type.
//
// Cost     one pass of stores, in loops that GCC vectorises.
// Sources  the values are NumPy's. arange writes 0, 1, 2, ... converted to the type: integers wrap; bool is true for
//          all numbers but 0; float16 rounds, and numbers of at least 65520 become infinity; decimal128 holds the
//          integer in its low 8 bytes.
void fill(void* ptr, std::uint64_t elements, model::DType dtype, model::Fill fill) noexcept;

// checksum() covers every byte of an array. If the checksums under all release modes are equal, the data does not
// depend on when memory is freed.
//
// Units    bytes. The checksum is the number of bytes plus the sum of the 64-bit words, modulo 2^64, so the order
//          within an array does not matter. chained() makes the order of arrays matter.
// Cost     checksum() reads each byte one time, at memory bandwidth.
inline constexpr std::uint64_t checksum_factor = 0x9E37'79B9'7F4A'7C15;

[[nodiscard]] std::uint64_t checksum(const void* data, std::uint64_t bytes) noexcept;

// Returns a checksum that also depends on the order of the 64-byte blocks within the array. It is for comparing
// results, because a plain sum does not show that elements changed places.
[[nodiscard]] std::uint64_t ordered_checksum(const void* data, std::uint64_t bytes) noexcept;

// Returns the total of several arrays after one more array: `total` is the total so far, `sum` the checksum of the new
// array. The result is below 2^53, so that a double represents it exactly.
[[nodiscard]] constexpr std::uint64_t chained(std::uint64_t total, std::uint64_t sum) noexcept
{
    return (total * checksum_factor + sum) & ((std::uint64_t{1} << 53U) - 1);
}

}  // namespace memsweep::array
