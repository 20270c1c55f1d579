// Unsigned arithmetic that does not wrap: on overflow, checked_...() returns nullopt, and saturating_...() returns the
// largest value.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace memsweep::base {

// A type for products of two 64-bit values. GCC and Clang have it on every 64-bit target.
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

// saturating_add() and saturating_mul() are for estimates: callers reject the largest value as too much.
[[nodiscard]] constexpr std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b)
{
    return checked_add(a, b).value_or(std::numeric_limits<std::uint64_t>::max());
}

[[nodiscard]] constexpr std::uint64_t saturating_mul(std::uint64_t a, std::uint64_t b)
{
    return checked_mul(a, b).value_or(std::numeric_limits<std::uint64_t>::max());
}

}  // namespace memsweep::base
