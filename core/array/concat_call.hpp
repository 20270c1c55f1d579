// A case of the concatenation sweep with its inputs, ready to be called.
//
// Cost     build: the inputs, and `out` where the case has one, all written. call: one concatenation.
// Errors   the AllocStatus of the input that could not be allocated; what was built until then is released.
// Ownership  holds its arrays, which must not outlive their heap.
#pragma once

#include <vector>

#include "core/array/concat.hpp"
#include "core/model/concat_case.hpp"

namespace memsweep::array {

class ConcatCall {
  public:
    struct Result;

    // Makes the inputs as the sweep does: two inputs that are views of one array there are so here, too.
    [[nodiscard]] static Result build(lifetime::Heap& heap, const model::ConcatCase& what);

    ConcatCall() = default;

    [[nodiscard]] ConcatResult call(lifetime::Heap& heap) const noexcept;

    [[nodiscard]] std::span<const Array> inputs() const noexcept { return inputs_; }

    // The array that the case writes to, if it has one; call() returns a handle on it.
    [[nodiscard]] const Array& out() const noexcept { return out_; }

  private:
    std::vector<Array> inputs_;
    Array out_;
    ConcatOptions options_;
};

// Whether a result of the case has NumPy's type and size, and the checksum of NumPy's bytes. Reads it once.
[[nodiscard]] bool agrees_with_numpy(const Array& result, const model::ConcatCase& what) noexcept;

struct ConcatCall::Result {
    ConcatCall call;
    memory::AllocStatus status{memory::AllocStatus::ok};
};

}  // namespace memsweep::array
