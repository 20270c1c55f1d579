// Fills a CastTable with the loops of one level; included by one source file per level, as cast_loops.hpp says.
#pragma once

#include "core/array/cast_halves.hpp"

namespace memsweep::array {
namespace {

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
        constexpr std::size_t chunk_elements = 256;  // of singles between a half and another type: 1 KiB of stack
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
    // Each type to each other, by a loop that `Loop<From, To>::run` is.
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
