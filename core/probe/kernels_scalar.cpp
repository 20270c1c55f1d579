// Eight bytes at a time, on any processor. Compiled without vectorization, and so that no loop becomes a library call.
#ifdef __x86_64__
#include <emmintrin.h>
#endif

#define MEMSWEEP_VECTOR_BYTES 8
#include "core/probe/kernel_loops.hpp"

namespace memsweep::probe {
namespace {

#ifdef MEMSWEEP_X86_64
constexpr bool streams = true;

void stream_line(double* to, const Line& line)
{
#pragma GCC unroll 8
    for (std::size_t i = 0; i < line_vectors; ++i) {
        long long word{};
        __builtin_memcpy(&word, &line.part[i], sizeof word);
        _mm_stream_si64(reinterpret_cast<long long*>(to + i), word);
    }
}

void finish_streams()
{
    _mm_sfence();
}
#else
constexpr bool streams = false;  // so that neither of these is called

void stream_line(double* /*to*/, const Line& /*line*/)
{
    __builtin_unreachable();
}

void finish_streams()
{
    __builtin_unreachable();
}
#endif

constexpr LevelForms<streams> table{"scalar"};

}  // namespace

const FormTable forms_scalar{table.forms, table.count};

}  // namespace memsweep::probe
