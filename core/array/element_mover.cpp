#include "core/array/element_mover.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "core/array/layout.hpp"
#include "core/base/assert.hpp"

namespace memsweep::array {
namespace {

constexpr std::size_t chunk_elements = 256;
constexpr std::size_t max_element_bytes = 16;
constexpr std::size_t block_elements =
    32;  // a block of 32 x 32: with 8-byte elements half of a 32 KiB L1 for both sides

struct SixteenBytes {
    std::uint64_t low, high;
};

void copy_bytes(std::byte* out, const std::byte* in, std::size_t bytes) noexcept
{
    std::memcpy(out, in, bytes);
}

template <typename T>
void copy_strided(std::byte* out, std::int64_t out_stride, const std::byte* in, std::int64_t in_stride,
                  std::size_t elements)
{
    constexpr auto size = static_cast<std::int64_t>(sizeof(T));
    if (out_stride == size) {  // one address less to compute
        for (std::size_t i = 0; i < elements; ++i) {
            std::memcpy(out + i * sizeof(T), in + static_cast<std::int64_t>(i) * in_stride, sizeof(T));
        }
        return;
    }
    for (std::size_t i = 0; i < elements; ++i) {
        const auto at = static_cast<std::int64_t>(i);
        std::memcpy(out + at * out_stride, in + at * in_stride, sizeof(T));
    }
}

template <typename T>
void copy_block(std::byte* out, std::int64_t out_row_stride, std::size_t rows, const std::byte* in,
                std::int64_t in_row_stride, std::int64_t in_column_stride, std::size_t columns)
{
    for (std::size_t row = 0; row < rows; ++row) {
        copy_strided<T>(out, sizeof(T), in, in_column_stride, columns);
        out += out_row_stride;
        in += in_row_stride;
    }
}

// Calls visit.operator()<T>() with a T of this many bytes.
template <typename Visit>
void with_size(std::size_t element_bytes, Visit visit)
{
    switch (element_bytes) {
    case 1:
        return visit.template operator()<std::uint8_t>();
    case 2:
        return visit.template operator()<std::uint16_t>();
    case 4:
        return visit.template operator()<std::uint32_t>();
    case 8:
        return visit.template operator()<std::uint64_t>();
    default:
        return visit.template operator()<SixteenBytes>();
    }
}

void copy_strided_of(std::size_t element_bytes, std::byte* out, std::int64_t out_stride, const std::byte* in,
                     std::int64_t in_stride, std::size_t elements)
{
    with_size(element_bytes, [&]<typename T>() { copy_strided<T>(out, out_stride, in, in_stride, elements); });
}

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

ElementMover::ElementMover(const CastTable& table, model::DType from, model::DType to, bool streaming) noexcept
    : copy_{streaming && table.streams() ? table.streamed_copy : copy_bytes}, from_bytes_{model::size_bytes(from)},
      to_bytes_{model::size_bytes(to)}
{
    if (from == to) {
        return;
    }
    const Element from_element = element_of(from);
    const Element to_element = element_of(to);
    if (from_element != to_element) {
        const CastLoops& loops = streaming && table.streams() ? table.streamed_casts : table.casts;
        cast_ = loops[static_cast<std::size_t>(from_element)][static_cast<std::size_t>(to_element)];
    }
}

void ElementMover::strided(std::byte* out, std::int64_t out_stride, const std::byte* in, std::int64_t in_stride,
                           std::size_t elements) const noexcept
{
    const bool out_dense = out_stride == static_cast<std::int64_t>(to_bytes_);
    const bool in_dense = in_stride == static_cast<std::int64_t>(from_bytes_);
    if (out_dense && in_dense) {
        return contiguous(out, in, elements);
    }
    if (cast_ == nullptr) {
        return copy_strided_of(to_bytes_, out, out_stride, in, in_stride, elements);
    }
    alignas(64) std::byte gathered[chunk_elements * max_element_bytes];
    alignas(64) std::byte converted[chunk_elements * max_element_bytes];
    while (elements != 0) {
        const std::size_t count = std::min(elements, chunk_elements);
        const auto step = static_cast<std::int64_t>(count);
        if (!in_dense) {
            copy_strided_of(from_bytes_, gathered, static_cast<std::int64_t>(from_bytes_), in, in_stride, count);
        }
        cast_(out_dense ? out : converted, in_dense ? in : gathered, count);
        if (!out_dense) {
            copy_strided_of(to_bytes_, out, out_stride, converted, static_cast<std::int64_t>(to_bytes_), count);
        }
        out += step * out_stride;
        in += step * in_stride;
        elements -= count;
    }
}

void ElementMover::crossed(std::byte* out, std::int64_t out_row_stride, std::size_t rows, const std::byte* in,
                           std::int64_t in_row_stride, std::int64_t in_column_stride,
                           std::size_t columns) const noexcept
{
    alignas(64) std::byte block[block_elements * block_elements * max_element_bytes];
    for (std::size_t column = 0; column < columns; column += block_elements) {
        const std::size_t wide = std::min(block_elements, columns - column);
        for (std::size_t row = 0; row < rows; row += block_elements) {
            const std::size_t high = std::min(block_elements, rows - row);
            const std::byte* const from = in + static_cast<std::int64_t>(row) * in_row_stride +
                                          static_cast<std::int64_t>(column) * in_column_stride;
            std::byte* const to = out + static_cast<std::int64_t>(row) * out_row_stride + column * to_bytes_;
            const bool direct = cast_ == nullptr;
            const auto block_stride = static_cast<std::int64_t>(wide * from_bytes_);
            with_size(from_bytes_, [&]<typename T>() {
                copy_block<T>(direct ? to : block, direct ? out_row_stride : block_stride, high, from, in_row_stride,
                              in_column_stride, wide);
            });
            for (std::size_t line = 0; !direct && line < high; ++line) {
                const auto at = static_cast<std::int64_t>(line);
                cast_(to + at * out_row_stride, block + at * block_stride, wide);
            }
        }
    }
}

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
namespace {

constexpr std::size_t line_bytes = 64;
constexpr std::size_t max_collected_bytes = 8192;

}  // namespace

void SlabWriter::append(model::DType from, const std::byte* in, std::size_t elements) noexcept
{
    const std::size_t bytes = elements * model::size_bytes(dtype_);
    if (streaming_ && bytes <= max_collected_bytes) {
        return collect(ElementMover{table_, from, dtype_, false}, in, elements);
    }
    finish();
    ElementMover{table_, from, dtype_, streaming_}.contiguous(out_, in, elements);
    out_ += bytes;
}

void SlabWriter::collect(const ElementMover& mover, const std::byte* in, std::size_t elements) noexcept
{
    while (elements != 0) {
        const std::size_t room = (capacity_bytes - collected_bytes_) / mover.to_bytes();
        const std::size_t count = std::min(elements, room);
        mover.contiguous(collected_ + collected_bytes_, in, count);
        collected_bytes_ += count * mover.to_bytes();
        in += count * mover.from_bytes();
        elements -= count;
        if (count == room) {
            write_whole_lines();
        }
    }
}

void SlabWriter::write_whole_lines() noexcept
{
    const std::size_t beyond_line = (reinterpret_cast<std::uintptr_t>(out_) + collected_bytes_) % line_bytes;
    const std::size_t whole = collected_bytes_ - beyond_line;
    table_.streamed_copy(out_, collected_, whole);
    std::memmove(collected_, collected_ + whole, beyond_line);
    out_ += whole;
    collected_bytes_ = beyond_line;
}

void SlabWriter::finish() noexcept
{
    if (collected_bytes_ != 0) {
        std::memcpy(out_, collected_, collected_bytes_);
        out_ += collected_bytes_;
        collected_bytes_ = 0;
    }
}

}  // namespace memsweep::array
