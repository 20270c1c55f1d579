#include "core/array/concat_call.hpp"

#include <numeric>

#include "core/array/kernels.hpp"

namespace memsweep::array {
namespace {

using memory::AllocStatus;
using model::ConcatCase;
using model::ConcatLayout;
using model::DType;
using model::Fill;
using model::Touch;

// An array of the case's shape, with this many times its rows.
Array::Result plain(lifetime::Heap& heap, const ConcatCase& what, DType dtype, std::uint64_t rows_times = 1)
{
    auto lengths = what.lengths;
    lengths[0] *= rows_times;
    return Array::create(heap, dtype, {lengths.data(), what.dimensions}, what.fill, Touch::full);
}

template <typename View>
Array::Result viewed(Array::Result made, View view)
{
    if (made.status == AllocStatus::ok) {
        made.array = view(made.array);
    }
    return made;
}

// Column-major with the elements of the row-major array: its transpose, copied, transposed back.
Array::Result column_major(lifetime::Heap& heap, const Array& row_major)
{
    return viewed(row_major.transpose().copy(heap), [](const Array& copy) { return copy.transpose(); });
}

Array::Result one_row(lifetime::Heap& heap, const ConcatCase& what, DType dtype)
{
    auto lengths = what.lengths;
    lengths[0] = 1;
    const Array::Result row = Array::create(heap, dtype, {lengths.data(), what.dimensions}, what.fill, Touch::full);
    return row.status == AllocStatus::ok ? row.array.broadcast_to(what.shape()) : row;
}

// The input that the layout is about; the others of strided, sliced and broadcasted are row-major.
Array::Result special(lifetime::Heap& heap, const ConcatCase& what, DType dtype)
{
    const auto rows = static_cast<std::int64_t>(what.lengths[0]);
    switch (what.layout) {
    case ConcatLayout::row_major:
        break;
    case ConcatLayout::column_major: {
        const Array::Result made = plain(heap, what, dtype);
        return made.status == AllocStatus::ok ? column_major(heap, made.array) : made;
    }
    case ConcatLayout::strided:
        return viewed(plain(heap, what, dtype, 2), [](const Array& big) { return big.slice(0, {}, {}, 2); });
    case ConcatLayout::transposed:
        return viewed(plain(heap, what, dtype), [](const Array& made) { return made.transpose(); });
    case ConcatLayout::sliced:
        return viewed(plain(heap, what, dtype, 2),
                      [rows](const Array& big) { return big.slice(0, rows / 2, rows / 2 + rows); });
    case ConcatLayout::broadcasted:
        return one_row(heap, what, dtype);
    }
    return plain(heap, what, dtype);
}

}  // namespace

ConcatCall::Result ConcatCall::build(lifetime::Heap& heap, const ConcatCase& what)
{
    Result built;
    ConcatCall& call = built.call;
    call.inputs_.reserve(what.count);
    for (std::uint64_t number = 0; number < what.count; ++number) {
        if (number != 0 && what.layout == ConcatLayout::transposed) {
            call.inputs_.push_back(call.inputs_.front());
            continue;
        }
        const bool all_special = what.layout == ConcatLayout::column_major;
        const DType dtype = what.dtype_of(number);
        Array::Result input = number == 0 || all_special ? special(heap, what, dtype) : plain(heap, what, dtype);
        if (input.status != AllocStatus::ok) {
            return {{}, input.status};
        }
        call.inputs_.push_back(std::move(input.array));
    }
    if (what.out) {
        const std::array<std::uint64_t, 1> elements{
            std::accumulate(call.inputs_.begin(), call.inputs_.end(), std::uint64_t{0},
                            [](std::uint64_t sum, const Array& input) { return sum + input.elements(); })};
        Array::Result out = Array::create(heap, *what.out, elements, Fill::zeros, Touch::full);
        if (out.status != AllocStatus::ok) {
            return {{}, out.status};
        }
        call.out_ = std::move(out.array);
    }
    call.options_ = {what.axis, nullptr, what.dtype, what.casting};
    return built;
}

ConcatResult ConcatCall::call(lifetime::Heap& heap) const noexcept
{
    ConcatOptions options = options_;
    options.out = out_ ? &out_ : nullptr;
    return concatenate(heap, inputs_, options);
}

bool agrees_with_numpy(const Array& result, const ConcatCase& what) noexcept
{
    return result.dtype() == what.result && result.bytes() == what.result_bytes() &&
           ordered_checksum(result.data(), result.bytes()) == what.checksum;
}

}  // namespace memsweep::array
