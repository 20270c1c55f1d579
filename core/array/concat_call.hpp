// One case of NumSharp's benchmark of np.concatenate (docs/measurement.md) with its inputs, ready to be run.
//
// Cost     build(): allocates and writes the inputs, and `out` if the case has one. call(): one concatenation.
// Errors   build(): the AllocStatus of an input or `out` that could not be allocated; everything built before is freed.
// Ownership  the object holds its arrays and must not outlive their heap.
#pragma once

#include <vector>

#include "core/array/concat.hpp"
#include "core/model/concat_case.hpp"

namespace memsweep::array {

class ConcatCall {
  public:
    struct Result;

    // Makes the inputs as the benchmark makes them in NumPy. Inputs that share one array in NumPy share one array here,
    // too.
    [[nodiscard]] static Result build(lifetime::Heap& heap, const model::ConcatCase& what);

    ConcatCall() = default;

    [[nodiscard]] ConcatResult call(lifetime::Heap& heap) const noexcept;

    [[nodiscard]] std::span<const Array> inputs() const noexcept { return inputs_; }

    // Returns the array that the case passes as `out`; call() then returns a view of this array. If the case passes no
    // `out`, returns an array without a buffer.
    [[nodiscard]] const Array& out() const noexcept { return out_; }

  private:
    std::vector<Array> inputs_;
    Array out_;
    ConcatOptions options_;
};

// Says whether the result has the type, the size and the checksum that NumPy's result of this case has. Reads the
// result a single time.
[[nodiscard]] bool agrees_with_numpy(const Array& result, const model::ConcatCase& what) noexcept;

struct ConcatCall::Result {
    ConcatCall call;
    memory::AllocStatus status{memory::AllocStatus::ok};
};

}  // namespace memsweep::array
