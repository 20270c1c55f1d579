// Data that tells where it belongs: each 8-byte word is a mix of a seed and of its own position. So bytes that were
// dropped, doubled, shifted or left from an earlier sample are all noticed.
//
// Units    bytes; positions count from the first byte of what the pattern was laid over.
//
// Sources  the finaliser of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
//
// Cost     about a nanosecond a word on a processor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace memsweep::device {

struct Pattern {
    std::uint64_t seed{};
    std::uint64_t first_word{};  // the position of the first word, for a range out of a larger whole
};

struct Mismatch {
    std::uint64_t words{};       // that differ
    std::uint64_t first_byte{};  // where the first of them begins; meaningless when there is none
};

[[nodiscard]] constexpr std::uint64_t pattern_word(std::uint64_t seed, std::uint64_t word) noexcept
{
    std::uint64_t mixed = seed + (word + 1) * 0x9E3779B97F4A7C15ULL;
    mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBULL;
    return mixed ^ (mixed >> 31U);
}

// If the last word does not fit, its first bytes in the machine's order fill the rest.
void write_pattern(std::span<std::byte> bytes, Pattern pattern) noexcept;
[[nodiscard]] Mismatch check_pattern(std::span<const std::byte> bytes, Pattern pattern) noexcept;

// "3 of 1024 words differ, the first at byte 512"
[[nodiscard]] std::string describe(const Mismatch& mismatch, std::uint64_t bytes);

}  // namespace memsweep::device
