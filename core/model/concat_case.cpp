#include "core/model/concat_case.hpp"

#include <algorithm>

namespace memsweep::model {
namespace {

constexpr std::uint64_t million = 1'000'000;

constexpr ConcatCase same(std::string_view label, DType dtype)
{
    return {.section = "dtype", .label = label, .dtypes = {dtype, dtype}, .lengths = {million}, .fill = Fill::ones};
}

constexpr ConcatCase laid_out(std::string_view label, std::array<std::uint64_t, 3> lengths, std::size_t dimensions,
                              ConcatLayout layout, std::int64_t axis)
{
    return {.section = "layout",
            .label = label,
            .lengths = lengths,
            .dimensions = dimensions,
            .layout = layout,
            .axis = axis};
}

constexpr ConcatCase square(std::string_view label, ConcatLayout layout, std::int64_t axis)
{
    return laid_out(label, {1000, 1000}, 2, layout, axis);
}

constexpr ConcatCase sized(std::string_view label, std::uint64_t elements, std::uint64_t repetitions)
{
    return {.section = "size", .label = label, .lengths = {elements}, .repetitions = repetitions};
}

constexpr ConcatCase counted(std::string_view label, std::uint64_t count, std::uint64_t repetitions)
{
    return {.section = "count", .label = label, .count = count, .lengths = {100'000}, .repetitions = repetitions};
}

constexpr ConcatCase mixed(std::string_view label, DType first, DType second)
{
    return {
        .section = "promotion", .label = label, .dtypes = {first, second}, .lengths = {million}, .fill = Fill::ones};
}

constexpr ConcatCase asked(std::string_view label, DType first, DType second, std::optional<DType> out,
                           std::optional<DType> dtype, Casting casting)
{
    return {.section = "kwargs",
            .label = label,
            .dtypes = {first, second},
            .lengths = {million},
            .out = out,
            .dtype = dtype,
            .casting = casting};
}

constexpr std::array questions{
    same("dtype_bool_1M", DType::boolean),
    same("dtype_int8_1M", DType::int8),
    same("dtype_uint8_1M", DType::uint8),
    same("dtype_int16_1M", DType::int16),
    same("dtype_uint16_1M", DType::uint16),
    same("dtype_int32_1M", DType::int32),
    same("dtype_uint32_1M", DType::uint32),
    same("dtype_int64_1M", DType::int64),
    same("dtype_uint64_1M", DType::uint64),
    same("dtype_char_1M", DType::char16),
    same("dtype_float16_1M", DType::float16),
    same("dtype_float32_1M", DType::float32),
    same("dtype_float64_1M", DType::float64),
    same("dtype_decimal_1M", DType::decimal128),
    same("dtype_complex128_1M", DType::complex128),

    laid_out("layout_c_contig_1d", {million}, 1, ConcatLayout::row_major, 0),
    square("layout_c_contig_2d_axis0", ConcatLayout::row_major, 0),
    square("layout_c_contig_2d_axis1", ConcatLayout::row_major, 1),
    laid_out("layout_c_contig_3d_axis0", {100, 100, 100}, 3, ConcatLayout::row_major, 0),
    laid_out("layout_c_contig_3d_axis2", {100, 100, 100}, 3, ConcatLayout::row_major, 2),
    square("layout_f_contig_2d_axis0", ConcatLayout::column_major, 0),
    square("layout_f_contig_2d_axis1", ConcatLayout::column_major, 1),
    square("layout_strided_2d_axis0", ConcatLayout::strided, 0),
    square("layout_transposed_2d_axis0", ConcatLayout::transposed, 0),
    square("layout_sliced_2d_axis0", ConcatLayout::sliced, 0),
    square("layout_broadcast_2d_axis0", ConcatLayout::broadcasted, 0),

    sized("size_100", 100, 500),
    sized("size_1000", 1000, 500),
    sized("size_10000", 10'000, 500),
    sized("size_100000", 100'000, 200),
    sized("size_1000000", million, 50),
    sized("size_10000000", 10 * million, 50),

    counted("count_2", 2, 100),
    counted("count_4", 4, 100),
    counted("count_8", 8, 100),
    counted("count_16", 16, 100),
    counted("count_64", 64, 100),
    counted("count_256", 256, 30),
    counted("count_1024", 1024, 30),

    mixed("prom_int8_int16", DType::int8, DType::int16),
    mixed("prom_int8_uint8", DType::int8, DType::uint8),
    mixed("prom_int32_int64", DType::int32, DType::int64),
    mixed("prom_int32_uint32", DType::int32, DType::uint32),
    mixed("prom_int32_float32", DType::int32, DType::float32),
    mixed("prom_int32_float64", DType::int32, DType::float64),
    mixed("prom_int64_float64", DType::int64, DType::float64),
    mixed("prom_half_single", DType::float16, DType::float32),
    mixed("prom_float32_float64", DType::float32, DType::float64),
    mixed("prom_float64_complex", DType::float64, DType::complex128),
    mixed("prom_int32_complex", DType::int32, DType::complex128),

    asked("out_int32_1M", DType::int32, DType::int32, DType::int32, {}, Casting::same_kind),
    asked("out_mixed_to_float64", DType::float32, DType::int32, DType::float64, {}, Casting::unsafe),
    asked("dtype_override_int32_to_float64", DType::int32, DType::int32, {}, DType::float64, Casting::same_kind),
    ConcatCase{
        .section = "kwargs", .label = "axis_none_2x_1M_2D", .lengths = {1000, 1000}, .dimensions = 2, .axis = {}},
    asked("casting_unsafe_int64_to_int32", DType::int64, DType::int64, {}, DType::int32, Casting::unsafe),
};
static_assert(questions.size() == 55);

struct Answer {
    std::string_view label;
    DType result;
    std::uint64_t checksum;
};
constexpr std::array answers{
#include "core/model/concat_answers.inc"
};
static_assert(answers.size() == questions.size());

// An answer that is not this question's stops the compiler.
constexpr auto cases = [] {
    auto answered = questions;
    for (std::size_t i = 0; i < answered.size(); ++i) {
        if (answered[i].label != answers[i].label) {
            throw "the answers are not in the order of the questions";  // NOLINT(hicpp-exception-baseclass): never runs
        }
        answered[i].result = answers[i].result;
        answered[i].checksum = answers[i].checksum;
    }
    return answered;
}();

std::uint64_t elements_of(const ConcatCase& what)
{
    std::uint64_t elements = 1;
    for (const std::uint64_t length : what.shape()) {
        elements *= length;
    }
    return elements;
}

}  // namespace

std::uint64_t ConcatCase::result_bytes() const
{
    return elements_of(*this) * count * size_bytes(result);
}

std::uint64_t ConcatCase::held_bytes() const
{
    const std::uint64_t elements = elements_of(*this);
    std::uint64_t bytes = out ? result_bytes() : 0;
    for (std::uint64_t number = 0; number < count; ++number) {
        bytes += elements * size_bytes(dtype_of(number));
    }
    const std::uint64_t first = elements * size_bytes(dtype_of(0));
    switch (layout) {
    case ConcatLayout::strided:
    case ConcatLayout::sliced:
        return bytes + first;
    case ConcatLayout::transposed:
        return first;
    case ConcatLayout::broadcasted:
        return bytes - first + first / lengths[0];
    case ConcatLayout::row_major:
    case ConcatLayout::column_major:
        return bytes;
    }
    return bytes;
}

std::uint64_t ConcatCase::scrap_bytes() const
{
    return layout == ConcatLayout::column_major ? held_bytes() : 0;
}

std::span<const ConcatCase> concat_cases()
{
    return cases;
}

const ConcatCase* find_concat_case(std::string_view label)
{
    const auto* const found = std::ranges::find(cases, label, &ConcatCase::label);
    return found == cases.end() ? nullptr : found;
}

std::vector<std::string_view> concat_labels()
{
    std::vector<std::string_view> labels;
    for (const ConcatCase& one : cases) {
        labels.push_back(one.label);
    }
    return labels;
}

}  // namespace memsweep::model
