// The tables that this build has, one per level of the processor. Only cast_table.cpp may choose among them.
#pragma once

#include "core/array/cast_table.hpp"

#ifdef __x86_64__
#define MEMSWEEP_X86_64
#endif

namespace memsweep::array {

extern const CastTable cast_table_baseline;
#ifdef MEMSWEEP_X86_64
extern const CastTable cast_table_avx2;
extern const CastTable cast_table_avx512;
extern const CastTable cast_table_avx512_streaming;
#endif

}  // namespace memsweep::array
