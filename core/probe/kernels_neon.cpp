// 128-bit vectors of arm64, whose non-temporal stores go in pairs; empty on other architectures.
#ifdef __aarch64__
#define MEMSWEEP_VECTOR_BYTES 16
#include "core/probe/kernel_loops.hpp"

namespace memsweep::probe {
namespace {

void stream_line(double* to, const Line& line)
{
    asm volatile("stnp %q1, %q2, [%0]\n\tstnp %q3, %q4, [%0, #32]"
                 :
                 : "r"(to), "w"(line.part[0]), "w"(line.part[1]), "w"(line.part[2]), "w"(line.part[3])
                 : "memory");
}

void finish_streams()
{
    asm volatile("dmb ishst" ::: "memory");
}

constexpr LevelForms<true> table{"neon"};

}  // namespace

const FormTable forms_neon{table.forms, table.count};

}  // namespace memsweep::probe
#endif
