// Joins arrays along an axis, as NumPy's concatenate does.
//
// Sources  NumPy's rules. The types of all inputs are promoted (NEP 50). Casting is same_kind by default. `out` and
//          `dtype` exclude each other. A negative axis counts from the end; without an axis each input is flattened in
//          row-major order. The result is column-major if every input is column-major and not all are row-major as
//          well; otherwise it is row-major.
// Cost     contiguous inputs: one copy or cast per slab, that is, per part of an input that is contiguous in the
//          result. Other inputs: see assign(). If pays_to_stream() says so, a large result bypasses the caches.
//          Allocates nothing but the result.
// Errors   a ConcatStatus, never an exception; if it is not ok, nothing was written.
// Ownership  the result has a new buffer from the heap, or is a view of `out`.
#pragma once

#include <optional>
#include <span>

#include "core/array/array.hpp"
#include "core/model/elements.hpp"

namespace memsweep::array {

enum class ConcatStatus : std::uint8_t {
    ok,
    no_inputs,
    zero_dimensional,  // an axis was given, but an input has no axes
    no_such_axis,
    different_dimensions,
    different_shapes,  // lengths differ in an axis other than the joined one
    no_common_dtype,
    cast_refused,  // the casting rule forbids the cast, or no conversion exists
    out_and_dtype,
    wrong_out_shape,
    out_overlaps_input,
    not_allocated,  // ConcatResult::allocation says why
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
