// Unsigned arithmetic that returns nullopt (checked) or the largest value (saturating) on overflow instead of wrapping.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace memsweep::base {

// For products of two 64-bit values. GCC and Clang have this type on every 64-bit target.
__extension__ using uint128 = unsigned __int128;

[[nodiscard]] constexpr std::optional<std::uint64_t> checked_add(std::uint64_t a, std::uint64_t b)
{
    std::uint64_t sum{};
    return __builtin_add_overflow(a, b, &sum) ? std::nullopt : std::optional{sum};
}

[[nodiscard]] constexpr std::optional<std::uint64_t> checked_mul(std::uint64_t a, std::uint64_t b)
{
    std::uint64_t product{};
    return __builtin_mul_overflow(a, b, &product) ? std::nullopt : std::optional{product};
}

// For estimates: on overflow the result is the largest value, which callers reject as too much.
[[nodiscard]] constexpr std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b)
{
    return checked_add(a, b).value_or(std::numeric_limits<std::uint64_t>::max());
}

[[nodiscard]] constexpr std::uint64_t saturating_mul(std::uint64_t a, std::uint64_t b)
{
    return checked_mul(a, b).value_or(std::numeric_limits<std::uint64_t>::max());
}

}  // namespace memsweep::base
