#include "core/array/cast_loops.hpp"

namespace memsweep::array {

const CastTable cast_table_baseline{"baseline", AllTypes::all<PlainLoop>()};

}  // namespace memsweep::array
