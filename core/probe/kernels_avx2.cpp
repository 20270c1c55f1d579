// Compiled with AVX2; empty on other architectures.
#ifdef __x86_64__
#include <immintrin.h>

#define MEMSWEEP_VECTOR_BYTES 32
#include "core/probe/kernel_loops.hpp"

namespace memsweep::probe {
namespace {

void stream_line(double* to, const Line& line)
{
    _mm256_stream_pd(to, line.part[0]);
    _mm256_stream_pd(to + vector_elements, line.part[1]);
}

void finish_streams()
{
    _mm_sfence();
}

constexpr LevelForms<true> table{"avx2"};

}  // namespace

const FormTable forms_avx2{table.forms, table.count};

}  // namespace memsweep::probe
#endif
