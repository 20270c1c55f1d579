// Compiled with AVX-512F; empty on other architectures.
#ifdef __x86_64__
#include <immintrin.h>

#define MEMSWEEP_VECTOR_BYTES 64
#include "core/probe/kernel_loops.hpp"

namespace memsweep::probe {
namespace {

void stream_line(double* to, const Line& line)
{
    _mm512_stream_pd(to, line.part[0]);
}

void finish_streams()
{
    _mm_sfence();
}

constexpr LevelForms<true> table{"avx512"};

}  // namespace

const FormTable forms_avx512{table.forms, table.count};

}  // namespace memsweep::probe
#endif
