// What a concatenation will make, or why it cannot: everything that is decided before the result is allocated.
//
// Cost     one pass over the inputs' shapes and types. Allocates nothing.
#pragma once

#include "core/array/concat.hpp"

namespace memsweep::array {

struct ConcatShape {
    ConcatStatus status{ConcatStatus::ok};
    model::DType dtype{};
    std::array<std::uint64_t, max_dimensions> shape{};
    std::size_t dimensions{};
    std::size_t axis{};       // of the result
    bool flattens{};          // no axis: each input is taken in row-major order
    bool column_major{};      // the result, if it is new
    bool all_row_major{};     // every input is contiguous so
    bool all_column_major{};  // likewise
    std::uint64_t input_bytes{};

    [[nodiscard]] Array::Shape extent() const noexcept { return {shape.data(), dimensions}; }
    [[nodiscard]] std::uint64_t elements() const noexcept;
};

[[nodiscard]] ConcatShape shape_of_concat(std::span<const Array> inputs, const ConcatOptions& options) noexcept;

[[nodiscard]] bool is_column_major(const Array& array) noexcept;

}  // namespace memsweep::array
