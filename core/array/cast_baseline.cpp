#include "core/array/cast_level.hpp"
#include "core/array/cast_levels.hpp"

namespace memsweep::array {

const CastTable cast_table_baseline{"baseline", AllTypes::all<PlainLoop>()};

}  // namespace memsweep::array
