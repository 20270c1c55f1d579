// A pattern is data for verifying transfers: each 8-byte word is a hash of a seed and of the word's position. So a
// check finds bytes that were dropped, duplicated, shifted, or left over from an earlier sample.
//
// Units    sizes in bytes; positions in words, from the start of the memory that the pattern fills.
//
// Sources  the finalizer of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
//
// Cost     about a nanosecond per word on a CPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace memsweep::device {

struct Pattern {
    std::uint64_t seed{};
    std::uint64_t first_word{};  // the position of the range's first word in the whole pattern
};

struct Mismatch {
    std::uint64_t words{};       // the number of words that differ
    std::uint64_t first_byte{};  // the offset at which the first differing word begins; meaningless if `words` is 0
};

[[nodiscard]] constexpr std::uint64_t pattern_word(std::uint64_t seed, std::uint64_t word) noexcept
{
    std::uint64_t mixed = seed + (word + 1) * 0x9E3779B97F4A7C15ULL;
    mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBULL;
    return mixed ^ (mixed >> 31U);
}

// Fills `bytes` with the pattern. If the size is no multiple of 8, only the first bytes (in memory order) of the last
// word are written.
void write_pattern(std::span<std::byte> bytes, Pattern pattern) noexcept;
[[nodiscard]] Mismatch check_pattern(std::span<const std::byte> bytes, Pattern pattern) noexcept;

// Returns a text such as "3 of 1024 words differ, the first at byte 512". `bytes`: the size of the checked memory.
[[nodiscard]] std::string describe(const Mismatch& mismatch, std::uint64_t bytes);

}  // namespace memsweep::device
