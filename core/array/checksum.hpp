// A checksum over every byte of an array, which proves that what a program reads does not depend on when memory is
// released.
//
// Units    bytes. The sum is of 64-bit words, modulo 2^64: the order within an array does not matter, but the position
//          of an array among others does.
// Cost     reads each byte once, at memory bandwidth.
#pragma once

#include <cstdint>

namespace memsweep::array {

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
