#include "core/array/concat.hpp"

#include "core/array/concat_shape.hpp"
#include "core/array/element_mover.hpp"
#include "core/array/streaming.hpp"
#include "core/memory/barrier.hpp"

namespace memsweep::array {
namespace {

using memory::AllocStatus;

// Slabs smaller than this are walked input by input: an axis that runs innermost has them down to one element.
constexpr std::uint64_t min_slab_bytes = 128;

const std::byte* start_of(const Array& array)
{
    return static_cast<const std::byte*>(array.buffer().data());
}

std::byte* writable_start_of(const Array& array)
{
    return static_cast<std::byte*>(array.buffer().data());
}

Array::Result make_result(lifetime::Heap& heap, const ConcatShape& shape)
{
    std::array<std::uint64_t, max_dimensions> lengths{};
    for (std::size_t axis = 0; axis < shape.dimensions; ++axis) {
        lengths[axis] = shape.shape[shape.column_major ? shape.dimensions - 1 - axis : axis];
    }
    Array::Result made =
        Array::create(heap, shape.dtype, {lengths.data(), shape.dimensions}, model::Fill::none, model::Touch::none);
    if (shape.column_major && made.status == AllocStatus::ok) {
        made.array = made.array.transpose();
    }
    return made;
}

// How the result falls apart into slabs, each of them contiguous in an input: `outer` times one of every input.
struct Slabs {
    std::uint64_t outer{1};
    std::uint64_t elements_per_step{1};  // of the axis
};

Slabs slabs_of(const ConcatShape& shape, bool column_major)
{
    Slabs slabs;
    for (std::size_t axis = 0; axis < shape.dimensions; ++axis) {
        const bool outer = column_major ? axis > shape.axis : axis < shape.axis;
        if (axis != shape.axis) {
            (outer ? slabs.outer : slabs.elements_per_step) *= shape.shape[axis];
        }
    }
    return slabs;
}

std::uint64_t slab_elements(const Array& input, const ConcatShape& shape, const Slabs& slabs)
{
    return shape.flattens ? input.elements() : input.shape()[shape.axis] * slabs.elements_per_step;
}

bool has_small_slabs(std::span<const Array> inputs, const ConcatShape& shape, const Slabs& slabs)
{
    if (slabs.outer == 1) {
        return false;
    }
    for (const Array& input : inputs) {
        if (slab_elements(input, shape, slabs) * model::size_bytes(shape.dtype) < min_slab_bytes) {
            return true;
        }
    }
    return false;
}

void join_slabs(const CastTable& table, std::span<const Array> inputs, const ConcatShape& shape, const Slabs& slabs,
                const Array& out, bool streaming)
{
    SlabWriter writer{table, static_cast<std::byte*>(out.data()), shape.dtype, streaming};
    for (std::uint64_t number = 0; number < slabs.outer; ++number) {
        for (const Array& input : inputs) {
            const std::uint64_t elements = slab_elements(input, shape, slabs);
            const auto* const from = static_cast<const std::byte*>(input.data());
            writer.append(input.dtype(), from + number * elements * model::size_bytes(input.dtype()), elements);
        }
    }
    writer.finish();
}

// Where an input goes in the result, with the input's shape: a part of the axis, or of the one flat dimension.
Layout place_of(const Array& input, const ConcatShape& shape, const Layout& out, std::uint64_t start)
{
    Layout place = input.layout();
    place.offset_bytes = static_cast<std::uint64_t>(static_cast<std::int64_t>(out.offset_bytes) +
                                                    static_cast<std::int64_t>(start) * out.strides_bytes[shape.axis]);
    std::int64_t flat_stride = out.strides_bytes[shape.axis];
    for (std::size_t axis = place.dimensions; axis-- > 0;) {
        place.strides_bytes[axis] = shape.flattens ? flat_stride : out.strides_bytes[axis];
        flat_stride *= static_cast<std::int64_t>(place.shape[axis]);
    }
    return place;
}

void join_strided(const CastTable& table, std::span<const Array> inputs, const ConcatShape& shape, const Array& out,
                  bool streaming)
{
    std::uint64_t start = 0;
    for (const Array& input : inputs) {
        const ElementMover mover{table, input.dtype(), shape.dtype, streaming};
        assign(mover, writable_start_of(out), place_of(input, shape, out.layout(), start), start_of(input),
               input.layout());
        start += shape.flattens ? input.elements() : input.shape()[shape.axis];
    }
}

void join(std::span<const Array> inputs, const ConcatShape& shape, const Array& out)
{
    const CastTable& table = cast_table();
    const bool row_major = shape.all_row_major && out.is_contiguous();
    const bool column_major = !row_major && !shape.flattens && shape.all_column_major && is_column_major(out);
    const bool streaming = pays_to_stream(table, out.data(), out.bytes(), shape.input_bytes + out.bytes());
    const Slabs slabs = shape.flattens ? Slabs{} : slabs_of(shape, column_major);
    if ((row_major || column_major) && !has_small_slabs(inputs, shape, slabs)) {
        join_slabs(table, inputs, shape, slabs, out, streaming);
    } else {
        join_strided(table, inputs, shape, out, streaming);
    }
    if (streaming) {
        table.finish_streams();
    }
    memory::keep_stores(out.data());
}

}  // namespace

const char* describe(ConcatStatus status) noexcept
{
    switch (status) {
    case ConcatStatus::ok:
        return "ok";
    case ConcatStatus::no_inputs:
        return "there is nothing to concatenate";
    case ConcatStatus::zero_dimensional:
        return "an array without dimensions has no axis to concatenate along";
    case ConcatStatus::no_such_axis:
        return "the arrays have no such axis";
    case ConcatStatus::different_dimensions:
        return "the arrays differ in their number of dimensions";
    case ConcatStatus::different_shapes:
        return "the arrays differ in length along another axis";
    case ConcatStatus::no_common_dtype:
        return "the arrays' types have none in common";
    case ConcatStatus::cast_refused:
        return "the casting rule does not allow an input's type to become the result's";
    case ConcatStatus::out_and_dtype:
        return "out and dtype exclude each other";
    case ConcatStatus::wrong_out_shape:
        return "out does not have the result's shape";
    case ConcatStatus::out_overlaps_input:
        return "out lies over an input";
    case ConcatStatus::not_allocated:
        return "the result could not be allocated";
    }
    return "?";
}

ConcatResult concatenate(lifetime::Heap& heap, std::span<const Array> inputs, const ConcatOptions& options) noexcept
{
    const ConcatShape shape = shape_of_concat(inputs, options);
    if (shape.status != ConcatStatus::ok) {
        return {{}, shape.status, AllocStatus::ok};
    }
    Array::Result made = options.out != nullptr ? Array::Result{*options.out} : make_result(heap, shape);
    if (made.status != AllocStatus::ok) {
        return {{}, ConcatStatus::not_allocated, made.status};
    }
    if (shape.elements() != 0) {
        join(inputs, shape, made.array);
    }
    return {std::move(made.array), ConcatStatus::ok, AllocStatus::ok};
}

}  // namespace memsweep::array
