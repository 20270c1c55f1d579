// Arithmetic with alignments, which are powers of two.
//
// Units    bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "core/sys/page_ops.hpp"

namespace memsweep::memory {

// No object can be larger than the largest pointer difference.
inline constexpr std::size_t max_request_bytes = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max());

// Like std::has_single_bit, but without its library call: baseline x86-64 has no instruction that counts bits.
[[nodiscard]] constexpr bool is_power_of_two(std::uint64_t value) noexcept
{
    return value != 0 && (value & (value - 1)) == 0;
}

// False: no memory resource (resource.hpp) accepts such a request, because it is too large, or because the alignment is
// invalid. The limits leave room for rounding up, so that sums cannot overflow.
[[nodiscard]] constexpr bool is_servable(std::size_t bytes, std::size_t alignment) noexcept
{
    return is_power_of_two(alignment) && alignment <= max_request_bytes / 4 && bytes <= max_request_bytes / 2;
}

[[nodiscard]] constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t alignment) noexcept
{
    return (value + alignment - 1) & ~(alignment - 1);
}

// All pages that a block overlaps, even in part. The first and the last page may be shared with neighbouring blocks.
//
// Units    bytes.
struct PageSpan {
    std::byte* begin{};
    std::uint64_t bytes{};
};

[[nodiscard]] inline PageSpan pages_of(void* ptr, std::uint64_t bytes) noexcept
{
    const std::uint64_t page = sys::page_size();
    const auto address = reinterpret_cast<std::uintptr_t>(ptr);
    const std::uint64_t before = address % page;
    return {static_cast<std::byte*>(ptr) - before, bytes == 0 ? 0 : round_up(before + bytes, page)};
}

}  // namespace memsweep::memory
