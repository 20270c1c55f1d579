// Copies by movdir64b, which reads 64 bytes and writes them past the caches in one instruction. Compiled with it; empty
// on other architectures.
#ifdef __x86_64__
#include <immintrin.h>

#define MEMSWEEP_VECTOR_BYTES 16
#include "core/probe/kernel_loops.hpp"

namespace memsweep::probe {
namespace {

void stream_line(double* to, const Line& line)
{
    _movdir64b(to, &line);
}

void finish_streams()
{
    _mm_sfence();
}

template <Walk walk>
std::uint64_t run_copy(const Operands& given) noexcept
{
    const Operands on = given;
    const std::size_t head = head_elements(on.a, on.elements);
    for (std::size_t i = 0; i < head; ++i) {
        compute_element<Kernel::copy>(on, i);
    }
    const std::size_t done = by_turns<walk>(head, on.elements, [&on](std::size_t at) {
#pragma GCC unroll 8
        for (std::size_t line = 0; line < walk.lines; ++line) {
            prefetch_line<Kernel::copy, walk.prefetch_bytes>(on, at + line * line_elements);
            _movdir64b(on.a + at + line * line_elements, on.b + at + line * line_elements);
        }
    });
    for (std::size_t i = done; i < on.elements; ++i) {
        compute_element<Kernel::copy>(on, i);
    }
    finish_streams();
    return 0;
}

template <std::uint32_t prefetch_bytes, std::uint32_t pages, std::uint32_t lines>
constexpr Form copy_form()
{
    return {Kernel::copy, Store::nt, "movdir64b", prefetch_bytes,
            pages,        lines,     false,       run_copy<Walk{prefetch_bytes, pages, lines}>};
}

constexpr Form table[]{copy_form<0, 1, 4>(), copy_form<2048, 1, 4>(), copy_form<0, 4, 4>(), copy_form<0, 8, 4>()};

}  // namespace

const FormTable forms_movdir64b{table, sizeof table / sizeof table[0]};

}  // namespace memsweep::probe
#endif
