// Joining arrays: layouts, axes, types, and what is refused.
#include <limits>
#include <vector>

#include "core/array/cast_table.hpp"
#include "core/array/concat.hpp"
#include "tests/array/rig.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::array {
namespace {

using model::Casting;
using model::DType;
using model::Fill;
using tests::elements;
using tests::Rig;
using Shape = std::vector<std::uint64_t>;

enum class Lie { row_major, column_major, every_other, backwards, sliced, broadcasted };
constexpr std::array lies{Lie::row_major, Lie::column_major, Lie::every_other,
                          Lie::backwards, Lie::sliced,       Lie::broadcasted};

// An array of this shape that lies in memory in this way, its elements all different where the type allows it.
Array lying(Rig& rig, DType dtype, Shape shape, Lie lie)
{
    switch (lie) {
    case Lie::row_major:
        break;
    case Lie::column_major:
        return rig.make(dtype, {shape.rbegin(), shape.rend()}, Fill::arange).transpose();
    case Lie::every_other:
        shape.back() *= 2;
        return rig.make(dtype, shape, Fill::arange).slice(shape.size() - 1, {}, {}, 2);
    case Lie::backwards:
        return rig.make(dtype, shape, Fill::arange).slice(0, {}, {}, -1);
    case Lie::sliced: {
        const auto rows = static_cast<std::int64_t>(shape[0]);
        shape[0] += 3;
        return rig.make(dtype, shape, Fill::arange).slice(0, 2, 2 + rows);
    }
    case Lie::broadcasted: {
        const Shape whole = shape;
        shape[0] = 1;
        return rig.make(dtype, shape, Fill::arange).broadcast_to(whole).array;
    }
    }
    return rig.make(dtype, shape, Fill::arange);
}

// One element converted by the plainest loop, which cast_test.cpp holds against conversions made by hand.
void convert_one(std::byte* out, DType to, const void* in, DType from)
{
    const auto* const bytes = static_cast<const std::byte*>(in);
    if (from == to) {
        std::memcpy(out, bytes, model::size_bytes(to));
    } else {
        const auto& casts = runnable_cast_tables().front()->casts;
        casts[static_cast<std::size_t>(element_of(from))][static_cast<std::size_t>(element_of(to))](out, bytes, 1);
    }
}

// Goes through the result by index; true when every element is its input's.
bool is_joined(const Array& result, std::span<const Array> inputs, std::size_t axis)
{
    std::vector<std::uint64_t> index(result.dimensions(), 0);
    for (std::uint64_t number = 0; number < result.elements(); ++number) {
        std::vector<std::uint64_t> inside = index;
        std::size_t input = 0;
        while (inside[axis] >= inputs[input].shape()[axis]) {
            inside[axis] -= inputs[input++].shape()[axis];
        }
        std::array<std::byte, 16> expected{};
        convert_one(expected.data(), result.dtype(), inputs[input].at(inside), inputs[input].dtype());
        if (std::memcmp(expected.data(), result.at(index), model::size_bytes(result.dtype())) != 0) {
            return false;
        }
        for (std::size_t turn = index.size(); turn-- > 0;) {
            if (++index[turn] < result.shape()[turn]) {
                break;
            }
            index[turn] = 0;
        }
    }
    return true;
}

void check_joined(Rig& rig, const std::vector<Array>& inputs, std::int64_t axis)
{
    const ConcatResult result = concatenate(rig.heap, inputs, {.axis = axis});
    REQUIRE(result.status == ConcatStatus::ok);
    const auto dimensions = static_cast<std::int64_t>(inputs[0].dimensions());
    REQUIRE(is_joined(result.array, inputs, static_cast<std::size_t>(axis < 0 ? axis + dimensions : axis)));
}

ConcatStatus status_of(Rig& rig, const std::vector<Array>& inputs, const ConcatOptions& options = {})
{
    const ConcatResult result = concatenate(rig.heap, inputs, options);
    CHECK(static_cast<bool>(result.array) == (result.status == ConcatStatus::ok));
    return result.status;
}

}  // namespace

TEST_CASE("concat: any two layouts along any axis, of one type and of two", "[unit]")
{
    Rig rig;
    for (const Lie one : lies) {
        for (const Lie other : lies) {
            INFO("layouts " << static_cast<int>(one) << " and " << static_cast<int>(other));
            for (const auto& [first, second] : {std::pair{DType::int32, DType::int32},
                                                {DType::int16, DType::float16},
                                                {DType::uint8, DType::complex128},
                                                {DType::decimal128, DType::decimal128}}) {
                check_joined(rig, {lying(rig, first, {9}, one), lying(rig, second, {40}, other)}, 0);
                check_joined(rig, {lying(rig, first, {7, 43}, one), lying(rig, second, {5, 43}, other)}, -2);
                check_joined(rig, {lying(rig, first, {43, 1}, one), lying(rig, second, {43, 70}, other)}, 1);
                for (const std::int64_t axis : {0, 1, 2}) {
                    Shape longer{3, 4, 5};
                    longer[static_cast<std::size_t>(axis)] += 2;
                    check_joined(rig, {lying(rig, first, {3, 4, 5}, one), lying(rig, second, longer, other)}, axis);
                }
            }
        }
    }
}

TEST_CASE("concat: results that are stored past the caches", "[unit]")
{
    const tests::StreamingAsBefore set_back;
    stream_from({0, 0});
    Rig rig;
    for (const Lie one : lies) {
        for (const DType second : {DType::int32, DType::int64}) {
            INFO("layout " << static_cast<int>(one) << ", " << model::name_of(second));
            for (const std::int64_t axis : {0, 1}) {
                // The first result warms the memory of the second up.
                for (int repetition = 0; repetition < 2; ++repetition) {
                    check_joined(
                        rig,
                        {lying(rig, DType::int32, {171, 603}, one), lying(rig, second, {171, 603}, Lie::row_major)},
                        axis);
                }
            }
        }
    }
    check_joined(rig, {rig.arange({701, 33, 2}), rig.arange({701, 33, 3})}, 2);
    check_joined(rig, {rig.arange({701, 9, 7}), rig.arange({701, 10, 7})}, 1);
}

TEST_CASE("concat: column-major only if all inputs are and not all are row-major, too", "[unit]")
{
    Rig rig;
    const auto joined = [&](const std::vector<Array>& inputs) { return concatenate(rig.heap, inputs).array; };
    const Array row = lying(rig, DType::int32, {4, 6}, Lie::row_major);
    const Array column = lying(rig, DType::int32, {4, 6}, Lie::column_major);
    const Array single = lying(rig, DType::int32, {1, 6}, Lie::row_major);  // both at once
    CHECK_FALSE(joined({column, column}).is_contiguous());
    CHECK(joined({column, column}).transpose().is_contiguous());
    CHECK(joined({column, single}).transpose().is_contiguous());
    CHECK(joined({row, row}).is_contiguous());
    CHECK(joined({row, column}).is_contiguous());
    CHECK(joined({single, single}).is_contiguous());
}

TEST_CASE("concat: without an axis, inputs are flattened in row-major order", "[unit]")
{
    Rig rig;
    const std::vector<Array> inputs{lying(rig, DType::int64, {3, 4}, Lie::column_major), rig.arange({2, 2, 2}),
                                    rig.arange({})};
    const ConcatResult result = concatenate(rig.heap, inputs, {.axis = std::nullopt});
    REQUIRE(result.status == ConcatStatus::ok);
    std::vector<std::int64_t> expected = elements<std::int64_t>(inputs[0]);
    expected.insert(expected.end(), {0, 1, 2, 3, 4, 5, 6, 7, 0});
    CHECK(elements<std::int64_t>(result.array) == expected);
}

TEST_CASE("concat: out and dtype decide the result's type, within the casting rule", "[unit]")
{
    Rig rig;
    const std::vector<Array> inputs{rig.make(DType::int32, {3}, Fill::arange), rig.make(DType::int32, {2}, Fill::ones)};
    const Array out = rig.make(DType::float64, {5}, Fill::zeros);
    const ConcatResult into = concatenate(rig.heap, inputs, {.out = &out});
    REQUIRE(into.status == ConcatStatus::ok);
    CHECK(into.array.data() == out.data());
    CHECK(elements<double>(out) == std::vector<double>{0, 1, 2, 1, 1});

    const Array strided = rig.make(DType::int8, {10}, Fill::zeros).slice(0, {}, {}, -2);
    REQUIRE(status_of(rig, inputs, {.out = &strided}) == ConcatStatus::ok);
    CHECK(elements<std::int8_t>(strided) == std::vector<std::int8_t>{0, 1, 2, 1, 1});
    const Array flat = rig.make(DType::int64, {10}, Fill::zeros).slice(0, {}, {}, 2);
    REQUIRE(status_of(rig, inputs, {.axis = std::nullopt, .out = &flat}) == ConcatStatus::ok);
    CHECK(elements<std::int64_t>(flat) == std::vector<std::int64_t>{0, 1, 2, 1, 1});

    CHECK(concatenate(rig.heap, inputs, {.dtype = DType::float32}).array.dtype() == DType::float32);
    CHECK(status_of(rig, inputs, {.out = &out, .dtype = DType::float64}) == ConcatStatus::out_and_dtype);
    CHECK(status_of(rig, inputs, {.dtype = DType::float32, .casting = Casting::safe}) == ConcatStatus::cast_refused);
    CHECK(status_of(rig, inputs, {.dtype = DType::uint32}) == ConcatStatus::cast_refused);
    CHECK(status_of(rig, inputs, {.dtype = DType::uint32, .casting = Casting::unsafe}) == ConcatStatus::ok);
    CHECK(status_of(rig, inputs, {.casting = Casting::no}) == ConcatStatus::ok);
    CHECK(status_of(rig, {inputs[0], rig.arange({2})}, {.casting = Casting::equiv}) == ConcatStatus::cast_refused);
    CHECK(status_of(rig, inputs, {.dtype = DType::decimal128, .casting = Casting::unsafe}) ==
          ConcatStatus::cast_refused);
}

TEST_CASE("concat: out may not be misshapen or lie over an input", "[unit]")
{
    Rig rig;
    const Array whole = rig.arange({10});
    const std::vector<Array> inputs{whole.slice(0, {}, 3), whole.slice(0, 3, 5)};
    const Array apart = whole.slice(0, 5, {});
    CHECK(status_of(rig, inputs, {.out = &apart}) == ConcatStatus::ok);
    CHECK(elements<std::int64_t>(whole) == std::vector<std::int64_t>{0, 1, 2, 3, 4, 0, 1, 2, 3, 4});
    const Array over = whole.slice(0, 4, 9);
    CHECK(status_of(rig, inputs, {.out = &over}) == ConcatStatus::out_overlaps_input);
    const Array backwards = whole.slice(0, 8, 3, -1);
    CHECK(status_of(rig, inputs, {.out = &backwards}) == ConcatStatus::out_overlaps_input);
    const Array small = rig.arange({4});
    CHECK(status_of(rig, inputs, {.out = &small}) == ConcatStatus::wrong_out_shape);
}

TEST_CASE("concat: shapes and axes that do not go together", "[unit]")
{
    Rig rig;
    const Array matrix = rig.arange({2, 3});
    CHECK(status_of(rig, {}) == ConcatStatus::no_inputs);
    CHECK(status_of(rig, {rig.arange({})}) == ConcatStatus::zero_dimensional);
    CHECK(status_of(rig, {matrix}, {.axis = 2}) == ConcatStatus::no_such_axis);
    CHECK(status_of(rig, {matrix}, {.axis = -3}) == ConcatStatus::no_such_axis);
    CHECK(status_of(rig, {matrix}, {.axis = std::numeric_limits<std::int64_t>::min()}) == ConcatStatus::no_such_axis);
    CHECK(status_of(rig, {matrix, rig.arange({3})}) == ConcatStatus::different_dimensions);
    CHECK(status_of(rig, {matrix, rig.arange({2, 4})}) == ConcatStatus::different_shapes);
    CHECK(status_of(rig, {matrix, rig.arange({2, 4})}, {.axis = -1}) == ConcatStatus::ok);
    CHECK(status_of(rig, {matrix, rig.make(DType::decimal128, {2, 3}, Fill::ones)}) == ConcatStatus::no_common_dtype);
}

TEST_CASE("concat: empty inputs add nothing but their type", "[unit]")
{
    Rig rig;
    const ConcatResult result = concatenate(rig.heap, std::vector<Array>{rig.arange({0, 3}), rig.arange({2, 3}),
                                                                         rig.make(DType::float32, {0, 3}, Fill::ones)});
    REQUIRE(result.status == ConcatStatus::ok);
    CHECK(result.array.dtype() == DType::float64);
    CHECK(elements<double>(result.array) == std::vector<double>{0, 1, 2, 3, 4, 5});
    CHECK(concatenate(rig.heap, std::vector<Array>{rig.arange({0}), rig.arange({0})}).array.elements() == 0);
}

TEST_CASE("concat: a refused allocation is reported and leaves nothing", "[unit]")
{
    Rig rig;
    const Array one = rig.make(DType::int8, {1}, Fill::ones);
    const Array endless = one.broadcast_to(std::array<std::uint64_t, 1>{std::uint64_t{1} << 58}).array;
    const ConcatResult result = concatenate(rig.heap, std::vector<Array>{endless, endless}, {.dtype = DType::int64});
    CHECK(result.status == ConcatStatus::not_allocated);
    CHECK(result.allocation != memory::AllocStatus::ok);
    CHECK_FALSE(result.array);
}

}  // namespace memsweep::array
