#include "core/array/concat_shape.hpp"

#include <algorithm>

namespace memsweep::array {
namespace {

using model::DType;

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

}  // namespace

std::uint64_t ConcatShape::elements() const noexcept
{
    std::uint64_t product = 1;
    for (const std::uint64_t length : extent()) {
        product *= length;
    }
    return product;
}

bool is_column_major(const Array& array) noexcept
{
    return transposed(array.layout()).is_contiguous(model::size_bytes(array.dtype()));
}

ConcatShape shape_of_concat(std::span<const Array> inputs, const ConcatOptions& options) noexcept
{
    ConcatShape made;
    made.status = decide(inputs, options, made);
    return made;
}

}  // namespace memsweep::array
