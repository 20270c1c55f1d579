// Halves to floats and back for cast_loops: by F16C where the level has it, else by the functions of half.hpp.
//
// Internal linkage throughout, for the reason that cast_loops.hpp gives.
#pragma once

#include "core/array/cast_loops.hpp"
#ifndef __F16C__
#include "core/array/half.hpp"
#endif

namespace memsweep::array {
namespace {

MEMSWEEP_INLINE void singles_from_halves(std::byte* __restrict out, const std::byte* __restrict in,
                                         std::size_t elements)
{
    std::size_t i = 0;
#ifdef __AVX512F__  // masks of all elements: GCC 12 warns of the uninitialised target in the forms without
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

}  // namespace
}  // namespace memsweep::array
