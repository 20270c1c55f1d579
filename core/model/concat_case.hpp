// The 55 concatenations of a known benchmark of array libraries, as data: inputs, their layout in memory, the request,
// and how often the benchmark called it.
//
// Units    elements, calls.
// Sources  NumSharp's np.concatenate sweep and its NumPy twin, which runs 53 of them: NumPy has no char and no decimal.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/model/elements.hpp"

namespace memsweep::model {

enum class ConcatLayout : std::uint8_t {
    row_major,
    column_major,
    strided,      // the first input: every other row of an array twice as high
    transposed,   // both inputs: the transpose of one row-major array
    sliced,       // the first input: the middle rows of an array twice as high
    broadcasted,  // the first input: one row, repeated by a stride of 0
};

// Inputs are equal except for their types, which are two at most and alternate: first, second, first, ... The defaults
// are those of most cases.
struct ConcatCase {
    std::string_view section;
    std::string_view label;
    std::uint64_t count{2};
    std::array<DType, 2> dtypes{DType::int32, DType::int32};
    std::array<std::uint64_t, 3> lengths{};
    std::size_t dimensions{1};
    ConcatLayout layout{ConcatLayout::row_major};
    Fill fill{Fill::arange};
    std::optional<std::int64_t> axis{0};  // none: flattened
    std::optional<DType> out;             // the type of an array that the result is written to
    std::optional<DType> dtype;
    Casting casting{Casting::same_kind};
    std::uint64_t repetitions{100};  // timed calls, after the warm-up
    DType result{};                  // what NumPy makes of it
    std::uint64_t checksum{};        // NumPy's result: array::ordered_checksum of its bytes

    [[nodiscard]] std::span<const std::uint64_t> shape() const { return {lengths.data(), dimensions}; }
    [[nodiscard]] DType dtype_of(std::uint64_t input) const { return dtypes[input % 2]; }
    [[nodiscard]] std::uint64_t result_bytes() const;
    [[nodiscard]] std::uint64_t held_bytes() const;   // by the inputs, and by the array written to, if there is one
    [[nodiscard]] std::uint64_t scrap_bytes() const;  // made on the way to the inputs and dropped again
};

inline constexpr std::uint64_t concat_warmup_calls = 20;

// The numbers of calls if nothing is ever freed: the full number would fill any machine.
inline constexpr std::uint64_t concat_leaking_warmup_calls = 1;
inline constexpr std::uint64_t concat_leaking_calls = 3;

[[nodiscard]] std::span<const ConcatCase> concat_cases();

[[nodiscard]] const ConcatCase* find_concat_case(std::string_view label);

[[nodiscard]] std::vector<std::string_view> concat_labels();

}  // namespace memsweep::model
