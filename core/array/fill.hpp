// Fills contiguous elements with what a scenario asks for, writing every byte.
//
// Cost     one pass of stores; simple loops that GCC vectorises.
// Sources  values as NumPy's: arange counts 0, 1, 2, ... converted to the type, so that integers wrap, bool is
//          "not zero" and float16 rounds, then reaches infinity. decimal128 holds the integer in its low 8 bytes.
#pragma once

#include <cstdint>

#include "core/model/dtype.hpp"
#include "core/model/step.hpp"

namespace memsweep::array {

// Fill::none writes nothing. `ptr` is aligned for the type.
void fill(void* ptr, std::uint64_t elements, model::DType dtype, model::Fill fill) noexcept;

}  // namespace memsweep::array
