// Two arrays combined element by element into a fresh one: NumPy's binary ufunc without `out`, where every call pays
// for a new result.
//
// Cost     one pass; contiguous operands run in loops that GCC vectorises, others row by row.
// Sources  integers wrap; bool adds with "or" and multiplies with "and"; float16 is computed in single precision;
//          complex multiplication is the plain formula, without C's recovery of infinities.
// Errors   bad_request: types or shapes differ, or the type is decimal128, which has no arithmetic here; otherwise the
//          status of the result's allocation.
#pragma once

#include "core/array/array.hpp"

namespace memsweep::array {

[[nodiscard]] Array::Result binary(lifetime::Heap& heap, model::BinaryFunction function, const Array& left,
                                   const Array& right) noexcept;

}  // namespace memsweep::array
