// Joins arrays along an axis, as NumPy's concatenate does.
//
// Sources  NumPy: promotion of every input's type (NEP 50), same_kind casting unless another is asked for, `out` or
//          `dtype` but not both, negative axes from the end, no axis: each input flattened in row-major order. The
//          result is column-major if every input is, unless every input is row-major too; otherwise row-major.
// Cost     contiguous inputs: one copy or cast per slab; others as assign() says. Results too large to stay in the
//          processor's caches bypass them, where pays_to_stream() says that this pays. Allocates the result and nothing
//          else.
// Errors   a ConcatStatus, never an exception; nothing is written unless it is ok.
// Ownership  the result is a new buffer of the heap, or another handle on `out`.
#pragma once

#include <optional>
#include <span>

#include "core/array/array.hpp"
#include "core/model/elements.hpp"

namespace memsweep::array {

enum class ConcatStatus : std::uint8_t {
    ok,
    no_inputs,
    zero_dimensional,  // an axis was asked for, but an input has none
    no_such_axis,
    different_dimensions,
    different_shapes,  // beside the axis
    no_common_dtype,
    cast_refused,  // by the casting rule, or because there is no conversion
    out_and_dtype,
    wrong_out_shape,
    out_overlaps_input,
    not_allocated,  // the result's `allocation` says why
};

struct ConcatOptions {
    std::optional<std::int64_t> axis{0};
    const Array* out{};
    std::optional<model::DType> dtype;
    model::Casting casting{model::Casting::same_kind};
};

struct ConcatResult {
    Array array;
    ConcatStatus status{ConcatStatus::ok};
    memory::AllocStatus allocation{memory::AllocStatus::ok};
};

[[nodiscard]] ConcatResult concatenate(lifetime::Heap& heap, std::span<const Array> inputs,
                                       const ConcatOptions& options = {}) noexcept;

}  // namespace memsweep::array
