#include "core/array/checksum.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace memsweep::array {

std::uint64_t checksum(const void* data, std::uint64_t bytes) noexcept
{
    const auto* const from = static_cast<const std::byte*>(data);
    std::uint64_t sum = bytes;
    std::uint64_t at = 0;
    for (; at + sizeof(std::uint64_t) <= bytes; at += sizeof(std::uint64_t)) {
        std::uint64_t word = 0;
        std::memcpy(&word, from + at, sizeof word);
        sum += word;
    }
    std::uint64_t rest = 0;
    if (at < bytes) {
        std::memcpy(&rest, from + at, bytes - at);
    }
    return sum + rest;
}

std::uint64_t ordered_checksum(const void* data, std::uint64_t bytes) noexcept
{
    constexpr std::uint64_t stretch = 64;
    const auto* const from = static_cast<const std::byte*>(data);
    std::uint64_t total = 0;
    for (std::uint64_t at = 0; at < bytes; at += stretch) {
        total = total * checksum_factor + checksum(from + at, std::min(stretch, bytes - at));
    }
    return total;
}

}  // namespace memsweep::array
