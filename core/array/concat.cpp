#include "core/array/concat.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "core/array/element_mover.hpp"
#include "core/array/streaming.hpp"
#include "core/base/barrier.hpp"

namespace memsweep::array {
namespace {

using memory::AllocStatus;
using model::DType;

// What a concatenation will make, or why it cannot: everything that is decided before the result is allocated.
struct ConcatShape {
    ConcatStatus status{ConcatStatus::ok};
    model::DType dtype{};
    std::array<std::uint64_t, max_dimensions> shape{};
    std::size_t dimensions{};
    std::size_t axis{};       // the result's
    bool flattens{};          // no axis: each input is taken in row-major order
    bool column_major{};      // the result, if it is new
    bool all_row_major{};     // every input is contiguous so
    bool all_column_major{};  // likewise
    std::uint64_t input_bytes{};

    [[nodiscard]] Array::Shape extent() const noexcept { return {shape.data(), dimensions}; }
    [[nodiscard]] std::uint64_t elements() const noexcept
    {
        return std::accumulate(shape.begin(), shape.begin() + dimensions, std::uint64_t{1}, std::multiplies{});
    }
};

bool is_column_major(const Array& array)
{
    return transposed(array.layout()).is_contiguous(model::size_bytes(array.dtype()));
}

// Bytes that elements of the array may lie on, as offsets from its buffer's start.
struct Extent {
    std::int64_t first, last;
};

Extent extent_of(const Array& array)
{
    Extent extent{static_cast<std::int64_t>(array.layout().offset_bytes),
                  static_cast<std::int64_t>(array.layout().offset_bytes + model::size_bytes(array.dtype())) - 1};
    for (std::size_t axis = 0; axis < array.dimensions(); ++axis) {
        const std::int64_t span = array.strides_bytes()[axis] * (static_cast<std::int64_t>(array.shape()[axis]) - 1);
        (span < 0 ? extent.first : extent.last) += span;
    }
    return extent;
}

bool overlap(const Array& one, const Array& other)
{
    if (one.buffer().data() != other.buffer().data() || one.elements() == 0 || other.elements() == 0) {
        return false;
    }
    const Extent a = extent_of(one);
    const Extent b = extent_of(other);
    return a.first <= b.last && b.first <= a.last;
}

// Types with a fraction are folded first, as elements.hpp says.
std::optional<DType> common_dtype(std::span<const Array> inputs)
{
    std::optional<DType> common;
    for (const bool inexact : {true, false}) {
        for (const Array& input : inputs) {
            if (model::is_inexact(input.dtype()) != inexact || input.dtype() == common) {
                continue;
            }
            common = common ? model::promoted(*common, input.dtype()) : input.dtype();
            if (!common) {
                return std::nullopt;
            }
        }
    }
    return common;
}

ConcatStatus join_along(std::span<const Array> inputs, std::int64_t asked, ConcatShape& made)
{
    const Array& first = inputs.front();
    const auto dimensions = static_cast<std::int64_t>(first.dimensions());
    if (dimensions == 0) {
        return ConcatStatus::zero_dimensional;
    }
    if (asked < -dimensions || asked >= dimensions) {
        return ConcatStatus::no_such_axis;
    }
    made.axis = static_cast<std::size_t>(asked < 0 ? asked + dimensions : asked);
    made.dimensions = first.dimensions();
    made.shape = first.layout().shape;
    made.shape[made.axis] = 0;
    for (const Array& input : inputs) {
        if (input.dimensions() != first.dimensions()) {
            return ConcatStatus::different_dimensions;
        }
        for (std::size_t axis = 0; axis < made.dimensions; ++axis) {
            if (axis == made.axis) {
                made.shape[axis] += input.shape()[axis];
            } else if (input.shape()[axis] != made.shape[axis]) {
                return ConcatStatus::different_shapes;
            }
        }
    }
    return ConcatStatus::ok;
}

void join_flattened(std::span<const Array> inputs, ConcatShape& made)
{
    made.dimensions = 1;
    made.flattens = true;
    for (const Array& input : inputs) {
        made.shape[0] += input.elements();
    }
}

ConcatStatus check_out(std::span<const Array> inputs, const Array& out, const ConcatShape& made)
{
    if (!std::ranges::equal(out.shape(), made.extent())) {
        return ConcatStatus::wrong_out_shape;
    }
    const bool overlaps = std::ranges::any_of(inputs, [&](const Array& input) { return overlap(out, input); });
    return overlaps ? ConcatStatus::out_overlaps_input : ConcatStatus::ok;
}

ConcatStatus decide(std::span<const Array> inputs, const ConcatOptions& options, ConcatShape& made)
{
    if (inputs.empty()) {
        return ConcatStatus::no_inputs;
    }
    if (options.out != nullptr && options.dtype) {
        return ConcatStatus::out_and_dtype;
    }
    if (!options.axis) {
        join_flattened(inputs, made);
    } else if (const ConcatStatus joined = join_along(inputs, *options.axis, made); joined != ConcatStatus::ok) {
        return joined;
    }
    std::optional<DType> dtype = options.out != nullptr ? options.out->dtype() : options.dtype;
    if (!dtype) {
        dtype = common_dtype(inputs);
    }
    if (!dtype) {
        return ConcatStatus::no_common_dtype;
    }
    made.dtype = *dtype;
    made.all_row_major = true;
    made.all_column_major = true;
    for (const Array& input : inputs) {
        if (!model::can_cast(input.dtype(), made.dtype, options.casting)) {
            return ConcatStatus::cast_refused;
        }
        made.all_row_major = made.all_row_major && input.is_contiguous();
        made.all_column_major = made.all_column_major && is_column_major(input);
        made.input_bytes += input.bytes();
    }
    made.column_major = !made.flattens && made.all_column_major && !made.all_row_major;
    return options.out != nullptr ? check_out(inputs, *options.out, made) : ConcatStatus::ok;
}

ConcatShape shape_of(std::span<const Array> inputs, const ConcatOptions& options)
{
    ConcatShape made;
    made.status = decide(inputs, options, made);
    return made;
}
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
    std::uint64_t elements_per_step{1};  // in one step along the axis
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
    const Slabs slabs = shape.flattens ? Slabs{} : slabs_of(shape, column_major);
    const bool joins_slabs = (row_major || column_major) && !has_small_slabs(inputs, shape, slabs);
    const Writing writing = joins_slabs && slabs.outer == 1 ? Writing::front_to_back : Writing::in_pieces;
    const bool streaming = pays_to_stream(table, out.data(), out.bytes(), shape.input_bytes + out.bytes(), writing);
    if (joins_slabs) {
        join_slabs(table, inputs, shape, slabs, out, streaming);
    } else {
        join_strided(table, inputs, shape, out, streaming);
    }
    if (streaming) {
        table.finish_streams();
    }
    base::keep_stores(out.data());
}

}  // namespace

ConcatResult concatenate(lifetime::Heap& heap, std::span<const Array> inputs, const ConcatOptions& options) noexcept
{
    const ConcatShape shape = shape_of(inputs, options);
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
