#include "core/device/pattern.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace memsweep::device {
namespace {

constexpr std::size_t word_bytes = sizeof(std::uint64_t);

}  // namespace

void write_pattern(std::span<std::byte> bytes, Pattern pattern) noexcept
{
    for (std::size_t offset = 0; offset < bytes.size(); offset += word_bytes) {
        const std::uint64_t word = pattern_word(pattern.seed, pattern.first_word + offset / word_bytes);
        std::memcpy(bytes.data() + offset, &word, std::min(word_bytes, bytes.size() - offset));
    }
}

Mismatch check_pattern(std::span<const std::byte> bytes, Pattern pattern) noexcept
{
    Mismatch found;
    for (std::size_t offset = 0; offset < bytes.size(); offset += word_bytes) {
        const std::uint64_t word = pattern_word(pattern.seed, pattern.first_word + offset / word_bytes);
        if (std::memcmp(bytes.data() + offset, &word, std::min(word_bytes, bytes.size() - offset)) != 0) {
            if (found.words == 0) {
                found.first_byte = offset;
            }
            ++found.words;
        }
    }
    return found;
}

std::string describe(const Mismatch& mismatch, std::uint64_t bytes)
{
    if (mismatch.words == 0) {
        return "all data is as it was sent";
    }
    return fmt::format("{} of {} words differ, the first at byte {}", mismatch.words,
                       (bytes + word_bytes - 1) / word_bytes, mismatch.first_byte);
}

}  // namespace memsweep::device
