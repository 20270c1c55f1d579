// The loops of a CastTable, to be included by one source file per level and compiled with that level's flags.
//
// Everything has internal linkage, and nothing from the standard library is called: an inline function compiled here
// for a large processor could otherwise be the copy that the linker keeps for a small one.
#pragma once

#include <cstddef>
#include <cstdint>
#ifdef __F16C__
#include <immintrin.h>
#endif

#include "core/array/cast_table.hpp"

namespace memsweep::array {
namespace {

struct Bool {
    std::uint8_t value;
};
struct Half {
    std::uint16_t bits;
};
struct Complex {
    double re, im;
};

#define MEMSWEEP_INLINE [[gnu::always_inline]] inline

template <typename T, typename U>
inline constexpr bool same_type = false;
template <typename T>
inline constexpr bool same_type<T, T> = true;

template <typename T>
MEMSWEEP_INLINE T load(const std::byte* at, std::size_t index)
{
    T value;
    __builtin_memcpy(&value, at + index * sizeof(T), sizeof(T));
    return value;
}

template <typename T>
MEMSWEEP_INLINE void store(std::byte* at, std::size_t index, T value)
{
    __builtin_memcpy(at + index * sizeof(T), &value, sizeof(T));
}

template <typename Float>
MEMSWEEP_INLINE std::int32_t int32_of(Float value)
{
    bool fits = value < static_cast<Float>(2147483648.0);
    if constexpr (same_type<Float, double>) {
        fits = fits && value > -2147483649.0;  // what is above it is cut off to the lowest int32
    } else {
        fits = fits && value >= -2147483648.0F;
    }
    return fits ? static_cast<std::int32_t>(value) : INT32_MIN;
}

template <typename Float>
MEMSWEEP_INLINE std::int64_t int64_of(Float value)
{
    constexpr auto bound = static_cast<Float>(9223372036854775808.0);
    const bool fits = value >= -bound && value < bound;
    return fits ? static_cast<std::int64_t>(value) : INT64_MIN;
}

template <typename Float>
MEMSWEEP_INLINE std::uint64_t uint64_of(Float value)
{
    constexpr auto bound = static_cast<Float>(9223372036854775808.0);
    const bool high = value >= bound;
    const auto low = static_cast<std::uint64_t>(int64_of(high ? value - bound : value));
    return high ? low ^ 0x8000'0000'0000'0000U : low;
}

template <typename To, typename Float>
MEMSWEEP_INLINE To truncated(Float value)
{
    if constexpr (same_type<To, std::int64_t> || same_type<To, std::uint32_t>) {
        return static_cast<To>(int64_of(value));
    } else if constexpr (same_type<To, std::uint64_t>) {
        return uint64_of(value);
    } else {
        return static_cast<To>(int32_of(value));
    }
}

template <typename To, typename From>
MEMSWEEP_INLINE To converted(From value)
{
    constexpr bool from_float = same_type<From, float> || same_type<From, double>;
    constexpr bool to_float = same_type<To, float> || same_type<To, double>;
    if constexpr (same_type<From, Bool>) {
        return converted<To>(value.value);
    } else if constexpr (same_type<From, Complex>) {
        if constexpr (same_type<To, Bool>) {
            return {static_cast<std::uint8_t>((value.re != 0) | (value.im != 0))};
        } else {
            return converted<To>(value.re);
        }
    } else if constexpr (same_type<To, Complex>) {
        return {static_cast<double>(value), 0.0};
    } else if constexpr (same_type<To, Bool>) {
        return {static_cast<std::uint8_t>(value != 0)};
    } else if constexpr (from_float && !to_float) {
        return truncated<To>(value);
    } else {
        return static_cast<To>(value);
    }
}

// Rounded to odd instead of to nearest: a half made of it is the double's, rounded once.
MEMSWEEP_INLINE float single_for_half(double value)
{
    const auto nearest = static_cast<float>(value);
    const auto back = static_cast<double>(nearest);
    std::uint32_t bits{};
    __builtin_memcpy(&bits, &nearest, sizeof bits);
    const bool exact = back == value || value != value;
    const bool beyond = __builtin_fabs(back) > __builtin_fabs(value);
    const std::uint32_t odd = (bits - (beyond ? 1U : 0U)) | 1U;
    bits = exact ? bits : odd;
    float result{};
    __builtin_memcpy(&result, &bits, sizeof result);
    return result;
}

template <typename From>
MEMSWEEP_INLINE float single_from(From value)
{
    if constexpr (same_type<From, Complex>) {
        return single_for_half(value.re);
    } else if constexpr (same_type<From, double>) {
        return single_for_half(value);
    } else if constexpr (same_type<From, Bool>) {
        return static_cast<float>(value.value);
    } else {
        return static_cast<float>(value);  // what rounds here lies beyond the largest half, and stays there
    }
}

}  // namespace
}  // namespace memsweep::array
