// Unsigned arithmetic that says when it overflows instead of wrapping.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace memsweep::base {

__extension__ using uint128 = unsigned __int128;  // GCC and Clang on every 64-bit target; products of two 64-bit values

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

// Sums and products of estimates that are refused only if they are absurd: the largest value stands for "too much".
[[nodiscard]] constexpr std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b)
{
    return checked_add(a, b).value_or(std::numeric_limits<std::uint64_t>::max());
}

[[nodiscard]] constexpr std::uint64_t saturating_mul(std::uint64_t a, std::uint64_t b)
{
    return checked_mul(a, b).value_or(std::numeric_limits<std::uint64_t>::max());
}

}  // namespace memsweep::base
