// A checksum over every byte of an array: what a program read must not depend on when memory is released.
//
// Cost     reads each byte once, at memory bandwidth.
// Units    bytes; the sums are of 64-bit words, modulo 2^64, so that order within an array does not matter but its
//          position among others does.
#pragma once

#include <cstdint>

namespace memsweep::array {

inline constexpr std::uint64_t checksum_factor = 0x9E37'79B9'7F4A'7C15;

[[nodiscard]] std::uint64_t checksum(const void* data, std::uint64_t bytes) noexcept;

// A checksum to which the order within the array matters too, from one stretch of 64 bytes to the next: what compares
// two results needs it, since sums alone are blind to what changed places.
[[nodiscard]] std::uint64_t ordered_checksum(const void* data, std::uint64_t bytes) noexcept;

// A total that has seen one array more; below 2^53, so that a double holds it.
[[nodiscard]] constexpr std::uint64_t chained(std::uint64_t total, std::uint64_t sum) noexcept
{
    return (total * checksum_factor + sum) & ((std::uint64_t{1} << 53U) - 1);
}

}  // namespace memsweep::array
