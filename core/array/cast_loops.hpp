// The loops of a CastTable. One source file for each processor level (baseline, AVX2, AVX-512) includes this header and
// is compiled with the flags of that level.
//
// Everything has internal linkage, and nothing from the standard library is called. Otherwise the linker could keep
// only the AVX-512 version of an inline function and use it everywhere, even on a processor without AVX-512.
#pragma once

#include <cstddef>
#include <cstdint>
#ifdef __F16C__
#include <immintrin.h>
#endif

#include "core/array/cast_table.hpp"
#ifndef __F16C__
#include "core/array/half.hpp"
#endif

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
        fits = fits && value > -2147483649.0;  // values just above this bound truncate to the lowest int32
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

// Converts a double to a float, but rounds to odd instead of to nearest. If the float is then converted to a half, the
// half is the correctly rounded double, as if it had been converted in one step.
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
        // This conversion rounds only values beyond the largest half, and the rounded values stay beyond it.
        return static_cast<float>(value);
    }
}

// This function and the next one convert halves to floats and floats to halves: by F16C instructions if the processor
// level has them, else by half.hpp.

MEMSWEEP_INLINE void singles_from_halves(std::byte* __restrict out, const std::byte* __restrict in,
                                         std::size_t elements)
{
    std::size_t i = 0;
#ifdef __AVX512F__  // with full masks, because GCC 12 warns about an uninitialised target in the unmasked forms
    for (; i + 16 <= elements; i += 16) {
        const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + 2 * i));
        _mm512_storeu_ps(out + 4 * i, _mm512_maskz_cvtph_ps(0xFFFF, halves));
    }
#endif
#ifdef __F16C__
    for (; i + 8 <= elements; i += 8) {
        const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + 2 * i));
        _mm256_storeu_ps(reinterpret_cast<float*>(out + 4 * i), _mm256_cvtph_ps(halves));
    }
#endif
    for (; i < elements; ++i) {
        const auto half = load<std::uint16_t>(in, i);
#ifdef __F16C__
        store(out, i, _cvtsh_ss(half));
#else
        store(out, i, float_from_half(half));
#endif
    }
}

MEMSWEEP_INLINE void halves_from_singles(std::byte* __restrict out, const std::byte* __restrict in,
                                         std::size_t elements)
{
    std::size_t i = 0;
#ifdef __AVX512F__
    for (; i + 16 <= elements; i += 16) {
        const __m256i halves = _mm512_maskz_cvtps_ph(0xFFFF, _mm512_loadu_ps(in + 4 * i), _MM_FROUND_TO_NEAREST_INT);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 2 * i), halves);
    }
#endif
#ifdef __F16C__
    for (; i + 8 <= elements; i += 8) {
        const __m256 singles = _mm256_loadu_ps(reinterpret_cast<const float*>(in + 4 * i));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 2 * i), _mm256_cvtps_ph(singles, _MM_FROUND_TO_NEAREST_INT));
    }
#endif
    for (; i < elements; ++i) {
        const auto single = load<float>(in, i);
#ifdef __F16C__
        store(out, i, static_cast<std::uint16_t>(_cvtss_sh(single, _MM_FROUND_TO_NEAREST_INT)));
#else
        store(out, i, half_from_float(single));
#endif
    }
}

template <typename From>
MEMSWEEP_INLINE void complex_from_reals(std::byte* __restrict out, const std::byte* __restrict in, std::size_t elements)
{
    std::size_t i = 0;
#ifdef __AVX512F__
    constexpr __mmask8 real_parts = 0x55;
    for (; i + 8 <= elements; i += 8) {
        alignas(64) double reals[8];
        for (std::size_t k = 0; k < 8; ++k) {
            reals[k] = converted<double>(load<From>(in, i + k));
        }
        const __m512d all = _mm512_load_pd(reals);
        const __m512d upper = _mm512_maskz_shuffle_f64x2(0xFF, all, all, 0xEE);
        _mm512_storeu_pd(out + i * sizeof(Complex), _mm512_maskz_expand_pd(real_parts, all));
        _mm512_storeu_pd(out + (i + 4) * sizeof(Complex), _mm512_maskz_expand_pd(real_parts, upper));
    }
#endif
    for (; i < elements; ++i) {
        store(out, 2 * i, converted<double>(load<From>(in, i)));
        store(out, 2 * i + 1, 0.0);
    }
}

template <typename From, typename To>
MEMSWEEP_INLINE void convert_span(std::byte* __restrict out, const std::byte* __restrict in, std::size_t elements)
{
    if constexpr (same_type<From, To>) {
        __builtin_memcpy(out, in, elements * sizeof(From));
    } else if constexpr (same_type<From, Half> && same_type<To, float>) {
        singles_from_halves(out, in, elements);
    } else if constexpr (same_type<From, float> && same_type<To, Half>) {
        halves_from_singles(out, in, elements);
    } else if constexpr (same_type<From, Half> || same_type<To, Half>) {
        constexpr std::size_t chunk_elements = 256;  // halves are converted through singles, in 1 KiB of stack
        alignas(64) std::byte singles[chunk_elements * sizeof(float)];
        for (std::size_t done = 0; done < elements; done += chunk_elements) {
            const std::size_t count = elements - done < chunk_elements ? elements - done : chunk_elements;
            if constexpr (same_type<From, Half>) {
                singles_from_halves(singles, in + done * sizeof(From), count);
                convert_span<float, To>(out + done * sizeof(To), singles, count);
            } else {
                for (std::size_t i = 0; i < count; ++i) {
                    store(singles, i, single_from(load<From>(in, done + i)));
                }
                halves_from_singles(out + done * sizeof(To), singles, count);
            }
        }
    } else if constexpr (same_type<To, Complex>) {
        complex_from_reals<From>(out, in, elements);
    } else {
        for (std::size_t i = 0; i < elements; ++i) {
            store(out, i, converted<To>(load<From>(in, i)));
        }
    }
}

template <typename From, typename To>
struct PlainLoop {
    static void run(std::byte* out, const std::byte* in, std::size_t elements) noexcept
    {
        convert_span<From, To>(out, in, elements);
    }
};

template <typename... Type>
struct Types {
    // Returns the loops that convert one type to all types; each loop is `Loop<From, To>::run`.
    template <template <typename, typename> typename Loop, typename From>
    static constexpr std::array<CastLoop, element_kinds> from()
    {
        return {{Loop<From, Type>::run...}};
    }
    template <template <typename, typename> typename Loop>
    static constexpr CastLoops all()
    {
        return {{from<Loop, Type>()...}};
    }
};

// In the order of Element.
using AllTypes = Types<Bool, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                       std::int64_t, std::uint64_t, Half, float, double, Complex>;

}  // namespace
}  // namespace memsweep::array
