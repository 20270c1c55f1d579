// The 55 concatenations of a benchmark of array libraries, as data: the inputs, their layout in memory, the arguments,
// and the number of calls.
//
// Units    elements, calls.
// Sources  NumSharp's np.concatenate sweep. Its NumPy version has 53 of the cases, because NumPy has no char and no
//          decimal.
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
    strided,      // the first input is every other row of an array with twice the rows
    transposed,   // both inputs are the transpose of one row-major array
    sliced,       // the first input is the middle rows of an array with twice the rows
    broadcasted,  // the first input is one row, repeated by a stride of 0
};

// All inputs are equal except for their types, which alternate between the two in `dtypes`. Each default is the value
// that most cases have.
struct ConcatCase {
    std::string_view section;
    std::string_view label;
    std::uint64_t count{2};  // inputs
    std::array<DType, 2> dtypes{DType::int32, DType::int32};
    std::array<std::uint64_t, 3> lengths{};  // of an input, one per dimension; only the first `dimensions` are used
    std::size_t dimensions{1};
    ConcatLayout layout{ConcatLayout::row_major};
    Fill fill{Fill::arange};
    std::optional<std::int64_t> axis{0};  // empty: the inputs are flattened first
    std::optional<DType> out;             // type of an existing array for the result; empty: a new array is made
    std::optional<DType> dtype;           // requested type of the result; empty: by promotion of the inputs' types
    Casting casting{Casting::same_kind};
    std::uint64_t repetitions{100};  // timed calls, after the warm-up
    DType result{};                  // type of NumPy's result
    std::uint64_t checksum{};        // array::ordered_checksum of the bytes of NumPy's result

    [[nodiscard]] std::span<const std::uint64_t> shape() const { return {lengths.data(), dimensions}; }
    [[nodiscard]] DType dtype_of(std::uint64_t input) const { return dtypes[input % 2]; }
    [[nodiscard]] std::uint64_t result_bytes() const;
    [[nodiscard]] std::uint64_t held_bytes() const;   // of the inputs, and of an existing array for the result
    [[nodiscard]] std::uint64_t scrap_bytes() const;  // of temporary arrays while the inputs are made
};

inline constexpr std::uint64_t concat_warmup_calls = 20;

// The smaller numbers of calls for release modes that never free: the full numbers would exhaust any machine's memory.
inline constexpr std::uint64_t concat_leaking_warmup_calls = 1;
inline constexpr std::uint64_t concat_leaking_calls = 3;

[[nodiscard]] std::span<const ConcatCase> concat_cases();

// nullptr: no case has this label.
[[nodiscard]] const ConcatCase* find_concat_case(std::string_view label);

[[nodiscard]] std::vector<std::string_view> concat_labels();

}  // namespace memsweep::model
