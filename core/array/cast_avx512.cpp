// Compiled with AVX-512 (F, BW, DQ, VL) and F16C; empty on other architectures.
#include "core/array/cast_levels.hpp"

#ifdef MEMSWEEP_X86_64
#include "core/array/cast_level.hpp"

namespace memsweep::array {
namespace {

constexpr std::size_t line_bytes = 64;
// How far the input is fetched ahead, into L2. Of none, 1, 2, 4, 8 and 16 KiB, 4 and 8 were the fastest where the input
// lies in L3: 2 to 4 % over none (Xeon with AVX-512, 2 MiB of L2).
constexpr std::size_t ahead_bytes = 4096;

// Elements before the first output line, or all of them where no element starts on a line.
std::size_t head_elements(const std::byte* out, std::size_t elements, std::size_t element_bytes)
{
    const std::size_t gap = (line_bytes - reinterpret_cast<std::uintptr_t>(out) % line_bytes) % line_bytes;
    const std::size_t head = gap / element_bytes;
    return gap % element_bytes != 0 || head > elements ? elements : head;
}

template <typename From, typename To>
struct StreamedLoop {
    static void run(std::byte* out, const std::byte* in, std::size_t elements) noexcept
    {
        constexpr std::size_t per_line = line_bytes / sizeof(To);
        constexpr std::size_t in_bytes = per_line * sizeof(From);
        std::size_t i = head_elements(out, elements, sizeof(To));
        PlainLoop<From, To>::run(out, in, i);
        for (; i + per_line <= elements; i += per_line) {
            for (std::size_t ahead = 0; ahead < in_bytes; ahead += line_bytes) {
                _mm_prefetch(in + i * sizeof(From) + ahead_bytes + ahead, _MM_HINT_T1);
            }
            alignas(line_bytes) std::byte line[line_bytes];
            convert_span<From, To>(line, in + i * sizeof(From), per_line);
            _mm512_stream_si512(reinterpret_cast<__m512i*>(out + i * sizeof(To)), _mm512_load_si512(line));
        }
        PlainLoop<From, To>::run(out + i * sizeof(To), in + i * sizeof(From), elements - i);
    }
};

void streamed_copy(std::byte* out, const std::byte* in, std::size_t bytes) noexcept
{
    constexpr std::size_t step = 4 * line_bytes;
    std::size_t i = head_elements(out, bytes, 1);
    __builtin_memcpy(out, in, i);
    for (; i + step <= bytes; i += step) {
        __m512i lines[4];
#pragma GCC unroll 4
        for (std::size_t k = 0; k < 4; ++k) {
            _mm_prefetch(in + i + ahead_bytes + k * line_bytes, _MM_HINT_T1);
            lines[k] = _mm512_loadu_si512(in + i + k * line_bytes);
        }
#pragma GCC unroll 4
        for (std::size_t k = 0; k < 4; ++k) {
            _mm512_stream_si512(reinterpret_cast<__m512i*>(out + i + k * line_bytes), lines[k]);
        }
    }
    for (; i + line_bytes <= bytes; i += line_bytes) {
        _mm512_stream_si512(reinterpret_cast<__m512i*>(out + i), _mm512_loadu_si512(in + i));
    }
    __builtin_memcpy(out + i, in + i, bytes - i);
}

void finish_streams() noexcept
{
    _mm_sfence();
}

}  // namespace

const CastTable cast_table_avx512{"avx512", AllTypes::all<PlainLoop>()};
const CastTable cast_table_avx512_streaming{"avx512 streaming", AllTypes::all<PlainLoop>(),
                                            AllTypes::all<StreamedLoop>(), streamed_copy, finish_streams};

}  // namespace memsweep::array
#endif
