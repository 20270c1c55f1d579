// Compiled with AVX-512 (F, BW, DQ, VL) and F16C; empty on other architectures.
#include "core/array/cast_table.hpp"

#ifdef MEMSWEEP_X86_64
#include "core/array/cast_loops.hpp"

namespace memsweep::array {
namespace {

constexpr std::size_t line_bytes = 64;
constexpr std::size_t copied_bytes = 4 * line_bytes;  // at a turn
// Converted elements go through a block on the stack, which the compiler keeps in registers while it is short. Measured
// with 64 to 2048 bytes: in 64, conversions that do not fill a register have the line's load wait for its stores (half
// as fast again); from 256 on the block is really in memory, for 5 %.
constexpr std::size_t block_bytes = 128;

// Long runs are written in four parts by turns, the last of them through the caches: that way the core has the paths of
// both kinds of stores to wait for. Measured, copying 8 and 32 MB: 0.82 of memcpy's time, against 0.89 when all of it
// bypasses the caches from front to back. Mixing the kinds within one part is slower than either.
constexpr std::size_t parts = 4;
constexpr std::size_t min_split_bytes = 65'536;

enum class Kind : bool { streamed, cached };

// Elements before the first output line, or all of them where no element starts on a line.
std::size_t head_elements(const std::byte* out, std::size_t elements, std::size_t element_bytes)
{
    const std::size_t gap = (line_bytes - reinterpret_cast<std::uintptr_t>(out) % line_bytes) % line_bytes;
    const std::size_t head = gap / element_bytes;
    return gap % element_bytes != 0 || head > elements ? elements : head;
}

template <Kind kind>
MEMSWEEP_INLINE void store_line(std::byte* out, __m512i line)
{
    if constexpr (kind == Kind::streamed) {
        _mm512_stream_si512(reinterpret_cast<__m512i*>(out), line);
    } else {
        _mm512_store_si512(out, line);
    }
}

// Calls run.operator()<kind>(start) for every turn's first element and returns where the elements are that no whole
// turn is left for.
template <typename Run>
MEMSWEEP_INLINE std::size_t by_turns(std::size_t start, std::size_t elements, std::size_t turn,
                                     std::size_t min_elements, Run run)
{
    if (elements - start >= min_elements) {
        const std::size_t part = (elements - start) / parts / turn * turn;
        for (std::size_t i = start; i < start + part; i += turn) {
            run.template operator()<Kind::streamed>(i);
            run.template operator()<Kind::streamed>(i + part);
            run.template operator()<Kind::streamed>(i + 2 * part);
            run.template operator()<Kind::cached>(i + 3 * part);
        }
        start += parts * part;
    }
    for (; start + turn <= elements; start += turn) {
        run.template operator()<Kind::streamed>(start);
    }
    return start;
}

template <typename From, typename To>
struct StreamedLoop {
    static void run(std::byte* out, const std::byte* in, std::size_t elements) noexcept
    {
        constexpr std::size_t turn = block_bytes / sizeof(To);
        const std::size_t head = head_elements(out, elements, sizeof(To));
        PlainLoop<From, To>::run(out, in, head);
        const std::size_t done =
            by_turns(head, elements, turn, min_split_bytes / sizeof(To), [&]<Kind kind>(std::size_t i) {
                alignas(line_bytes) std::byte block[block_bytes];
                convert_span<From, To>(block, in + i * sizeof(From), turn);
                for (std::size_t line = 0; line < block_bytes; line += line_bytes) {
                    store_line<kind>(out + i * sizeof(To) + line, _mm512_load_si512(block + line));
                }
            });
        PlainLoop<From, To>::run(out + done * sizeof(To), in + done * sizeof(From), elements - done);
    }
};

void streamed_copy(std::byte* out, const std::byte* in, std::size_t bytes) noexcept
{
    const std::size_t head = head_elements(out, bytes, 1);
    __builtin_memcpy(out, in, head);
    std::size_t done = by_turns(head, bytes, copied_bytes, min_split_bytes, [&]<Kind kind>(std::size_t i) {
        __m512i lines[copied_bytes / line_bytes];
#pragma GCC unroll 4
        for (std::size_t k = 0; k < 4; ++k) {
            lines[k] = _mm512_loadu_si512(in + i + k * line_bytes);
        }
#pragma GCC unroll 4
        for (std::size_t k = 0; k < 4; ++k) {
            store_line<kind>(out + i + k * line_bytes, lines[k]);
        }
    });
    for (; done + line_bytes <= bytes; done += line_bytes) {
        store_line<Kind::streamed>(out + done, _mm512_loadu_si512(in + done));
    }
    __builtin_memcpy(out + done, in + done, bytes - done);
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
