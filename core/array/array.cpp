#include "core/array/array.hpp"

#include <cstring>
#include <utility>

#include "core/array/element_mover.hpp"
#include "core/array/kernels.hpp"
#include "core/array/layout.hpp"
#include "core/base/assert.hpp"
#include "core/base/barrier.hpp"

namespace memsweep::array {
namespace {

using memory::AllocStatus;
using model::DType;
using model::Fill;
using model::Touch;

}  // namespace

void Array::write_elements(const ArraySpec& spec) noexcept
{
    if (spec.fill == Fill::none || spec.zeroed) {
        touch(buffer_.data(), spec.bytes, spec.touch);
    } else {
        fill(buffer_.data(), elements(), dtype_, spec.fill);
    }
}

Array::Result Array::create(lifetime::Heap& heap, DType dtype, Shape shape, Fill fill, Touch touch) noexcept
{
    Result made;
    made.status = Layout::fits(shape, model::size_bytes(dtype))
                      ? made.array.renew(heap, ArraySpec{dtype, shape, fill, touch}, shape)
                      : AllocStatus::bad_request;
    return made;
}

Array::Result Array::over(lifetime::Buffer buffer, DType dtype, Shape shape) noexcept
{
    const auto layout = Layout::of(shape, model::size_bytes(dtype));
    if (!layout || layout->elements() * model::size_bytes(dtype) > buffer.bytes()) {
        return {{}, AllocStatus::bad_request};
    }
    return {Array{std::move(buffer), dtype, *layout}, AllocStatus::ok};
}

void* Array::at(std::span<const std::uint64_t> index) const noexcept
{
    MEMSWEEP_ASSERT(index.size() == layout_.dimensions, "an index has one number per dimension");
    std::int64_t offset = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
        MEMSWEEP_ASSERT(index[axis] < layout_.shape[axis], "an index beyond its axis");
        offset += static_cast<std::int64_t>(index[axis]) * layout_.strides_bytes[axis];
    }
    return static_cast<std::byte*>(data()) + offset;
}

Array::Result Array::broadcast_to(Shape shape) const noexcept
{
    const auto layout = broadcast(layout_, shape);
    if (!layout) {
        return {{}, AllocStatus::bad_request};
    }
    return {Array{buffer_, dtype_, *layout}, AllocStatus::ok};
}

Array::Result Array::copy(lifetime::Heap& heap) const noexcept
{
    Result made = create(heap, dtype_, shape(), Fill::none, Touch::none);
    if (made.status != AllocStatus::ok || elements() == 0) {
        return made;
    }
    auto* const out = static_cast<std::byte*>(made.array.data());
    if (is_contiguous()) {
        std::memcpy(out, data(), bytes());
    } else {
        const ElementMover mover{cast_table(), dtype_, dtype_, false};
        const auto stride_bytes = static_cast<std::int64_t>(mover.to_bytes());
        const auto* const base = static_cast<const std::byte*>(buffer_.data());
        for_each_row(layout_, layout_, [&](const Row& row) {
            mover.strided(out + row.number * row.elements * mover.to_bytes(), stride_bytes, base + row.left_bytes,
                          row.left_stride_bytes, row.elements);
        });
    }
    base::keep_stores(out);
    return made;
}

}  // namespace memsweep::array
