#include "core/array/assign.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "core/array/rows.hpp"
#include "core/base/assert.hpp"

namespace memsweep::array {
namespace {

// The two layouts axis by axis. `left` is the output's.
struct Pair {
    Layout left;
    Layout right;

    void swap_axes(std::size_t one, std::size_t other)
    {
        for (Layout* layout : {&left, &right}) {
            std::swap(layout->shape[one], layout->shape[other]);
            std::swap(layout->strides_bytes[one], layout->strides_bytes[other]);
        }
    }
    void remove_axis(std::size_t axis)
    {
        for (Layout* layout : {&left, &right}) {
            for (std::size_t at = axis + 1; at < layout->dimensions; ++at) {
                layout->shape[at - 1] = layout->shape[at];
                layout->strides_bytes[at - 1] = layout->strides_bytes[at];
            }
            --layout->dimensions;
        }
    }
};

void drop_axes_of_one(Pair& pair)
{
    for (std::size_t axis = pair.left.dimensions; axis-- > 0;) {
        if (pair.left.shape[axis] == 1) {
            pair.remove_axis(axis);
        }
    }
}

// Largest step of the output first, so that it is written in the order of its addresses.
void sort_axes(Pair& pair)
{
    for (std::size_t end = 1; end < pair.left.dimensions; ++end) {
        for (std::size_t axis = end; axis > 0; --axis) {
            if (std::abs(pair.left.strides_bytes[axis - 1]) >= std::abs(pair.left.strides_bytes[axis])) {
                break;
            }
            pair.swap_axes(axis - 1, axis);
        }
    }
}

bool continues(const Layout& layout, std::size_t outer)
{
    const auto length = static_cast<std::int64_t>(layout.shape[outer + 1]);
    return layout.strides_bytes[outer] == layout.strides_bytes[outer + 1] * length;
}

void merge_axes(Pair& pair)
{
    for (std::size_t outer = pair.left.dimensions; outer-- > 0;) {
        if (outer + 1 < pair.left.dimensions && continues(pair.left, outer) && continues(pair.right, outer)) {
            pair.left.shape[outer + 1] *= pair.left.shape[outer];
            pair.right.shape[outer + 1] = pair.left.shape[outer + 1];
            pair.remove_axis(outer);
        }
    }
}

// The outer axis along which the input's elements lie closer together than along the innermost one, if there is one.
std::size_t crossing_axis(const Pair& pair)
{
    const std::size_t inner = pair.left.dimensions - 1;
    std::size_t best = inner;
    for (std::size_t axis = 0; axis < inner; ++axis) {
        const std::int64_t stride = std::abs(pair.right.strides_bytes[axis]);
        if (stride != 0 && stride < std::abs(pair.right.strides_bytes[best])) {
            best = axis;
        }
    }
    return best;
}

void assign_crossed(const ElementMover& mover, std::byte* out, Pair& pair, const std::byte* in, std::size_t crossing)
{
    const std::size_t inner = pair.left.dimensions - 1;
    const std::uint64_t rows = pair.left.shape[crossing];
    const std::int64_t out_row_stride = pair.left.strides_bytes[crossing];
    const std::int64_t in_row_stride = pair.right.strides_bytes[crossing];
    pair.left.shape[crossing] = 1;
    pair.right.shape[crossing] = 1;
    for_each_row(pair.left, pair.right, [&](const Row& row) {
        mover.crossed(out + row.left_bytes, out_row_stride, rows, in + row.right_bytes, in_row_stride,
                      pair.right.strides_bytes[inner], row.elements);
    });
}

}  // namespace

void assign(const ElementMover& mover, std::byte* out, const Layout& out_layout, const std::byte* in,
            const Layout& in_layout) noexcept
{
    MEMSWEEP_ASSERT(std::ranges::equal(out_layout.used_shape(), in_layout.used_shape()),
                    "an assignment between different shapes");
    Pair pair{out_layout, in_layout};
    if (pair.left.elements() == 0) {
        return;
    }
    drop_axes_of_one(pair);
    sort_axes(pair);
    merge_axes(pair);
    if (pair.left.dimensions == 0) {
        return mover.contiguous(out + out_layout.offset_bytes, in + in_layout.offset_bytes, 1);
    }
    const std::size_t inner = pair.left.dimensions - 1;
    const std::size_t crossing = crossing_axis(pair);
    if (crossing != inner && pair.left.strides_bytes[inner] == static_cast<std::int64_t>(mover.to_bytes())) {
        return assign_crossed(mover, out, pair, in, crossing);
    }
    for_each_row(pair.left, pair.right, [&](const Row& row) {
        mover.strided(out + row.left_bytes, row.left_stride_bytes, in + row.right_bytes, row.right_stride_bytes,
                      row.elements);
    });
}

}  // namespace memsweep::array
