// Walks two arrays of one shape, row by row: what the kernels of non-contiguous arrays share.
//
// Cost     a few additions per row; the kernel called has the innermost axis to itself.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/array/layout.hpp"

namespace memsweep::array {

// One innermost row: where it starts in each buffer, and the bytes from one element to the next.
struct Row {
    std::uint64_t number{};
    std::uint64_t elements{};
    std::int64_t left_bytes{};
    std::int64_t right_bytes{};
    std::int64_t left_stride_bytes{};
    std::int64_t right_stride_bytes{};
};

// Calls visit(row) for each row in row-major order; never for an empty array.
template <typename Visit>
void for_each_row(const Layout& left, const Layout& right, Visit visit)
{
    const std::uint64_t elements = left.elements();
    if (elements == 0) {
        return;
    }
    const std::size_t inner = left.dimensions == 0 ? 0 : left.dimensions - 1;
    Row row{0,
            left.dimensions == 0 ? 1 : left.shape[inner],
            static_cast<std::int64_t>(left.offset_bytes),
            static_cast<std::int64_t>(right.offset_bytes),
            left.dimensions == 0 ? 0 : left.strides_bytes[inner],
            right.dimensions == 0 ? 0 : right.strides_bytes[inner]};
    const std::uint64_t rows = elements / row.elements;
    std::array<std::uint64_t, max_dimensions> index{};
    while (true) {
        visit(static_cast<const Row&>(row));
        if (++row.number == rows) {
            return;
        }
        // The next index of the outer axes, as a mileage counter turns.
        for (std::size_t axis = inner; axis-- > 0;) {
            row.left_bytes += left.strides_bytes[axis];
            row.right_bytes += right.strides_bytes[axis];
            if (++index[axis] < left.shape[axis]) {
                break;
            }
            row.left_bytes -= left.strides_bytes[axis] * static_cast<std::int64_t>(left.shape[axis]);
            row.right_bytes -= right.strides_bytes[axis] * static_cast<std::int64_t>(right.shape[axis]);
            index[axis] = 0;
        }
    }
}

}  // namespace memsweep::array
