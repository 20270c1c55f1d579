// Writes the elements of one layout into another of the same shape, whatever their strides.
//
// Cost     axes are merged and put into the output's order first; what is left is contiguous runs where both sides have
//          them, blocks where the two lie across each other, and a strided walk otherwise. Allocates nothing.
// Errors   layouts of different shapes are a bug.
#pragma once

#include "core/array/element_mover.hpp"
#include "core/array/layout.hpp"

namespace memsweep::array {

// `out` and `in` are the starts of the buffers that the layouts speak of.
void assign(const ElementMover& mover, std::byte* out, const Layout& out_layout, const std::byte* in,
            const Layout& in_layout) noexcept;

}  // namespace memsweep::array
