// Compiled with AVX2 and F16C; empty on other architectures.
#include "core/array/cast_table.hpp"

#ifdef MEMSWEEP_X86_64
#include "core/array/cast_loops.hpp"

namespace memsweep::array {

const CastTable cast_table_avx2{"avx2", AllTypes::all<PlainLoop>()};

}  // namespace memsweep::array
#endif
