// The concat steps of one repetition. A case's inputs are made only once, for all of its calls. The calls are timed one
// by one, and the last result of each step is checked.
//
// The time and faults of a call include the allocation of its result, and the drop of the result by the release
// discipline. They do not include the making of the inputs, the warm-up calls and the check.
// Units    nanoseconds, bytes.
// Sources  NumSharp's benchmark of np.concatenate: warm-up calls, then calls timed one by one. Results are dropped
//          without Dispose().
// Cost     two clock reads per call; the check reads the last result once.
// Errors   Refusal: the memory refused an allocation. If concatenation itself rejects a case, memsweep has a bug,
//          because NumPy accepts every case.
// Ownership  holds the inputs until it is destroyed, so destroy it before the heap.
#pragma once

#include <functional>
#include <vector>

#include "core/array/concat_call.hpp"
#include "core/engine/steps/accounts.hpp"
#include "core/engine/steps/environment.hpp"
#include "core/engine/steps/named_arrays.hpp"
#include "core/engine/steps/run_region.hpp"

namespace memsweep::engine {

class ConcatCalls {
  public:
    ConcatCalls(const RunRegion& region, CaseMemory& memory, Environment environment);

    // `before_call` runs before each timed call, outside its time.
    [[nodiscard]] Refusal run(const Concat& concat, Stopwatch& stopwatch, const std::function<void()>& before_call);

    // Visits the arrays of every case that was called: its inputs, and the array that results are written to.
    template <typename Visit>
    void each_array(const Visit& visit) const
    {
        for (const Built& built : built_) {
            for (const array::Array& input : built.call.inputs()) {
                visit(input);
            }
            visit(built.call.out());
        }
    }

    // The array that the case's results are written to; empty if each call makes a new one. Call only after run().
    [[nodiscard]] const array::Array& out(const Concat& concat) const;

  private:
    struct Built {
        std::uint16_t concat_case{};
        array::ConcatCall call;
    };
    [[nodiscard]] const Built* find(std::uint16_t concat_case) const;

    [[nodiscard]] memory::AllocStatus prepare(const Concat& concat);

    // Times the calls one by one. Checks the result of the last call before this result is dropped; the time of the
    // last call does not include the check.
    [[nodiscard]] memory::AllocStatus time_calls(const Concat& concat, const array::ConcatCall& call,
                                                 Stopwatch& stopwatch, const std::function<void()>& before_call);

    [[nodiscard]] array::ConcatResult made(const array::ConcatCall& call);

    const RunRegion& region_;
    StepRecord& record_;
    CaseMemory& memory_;
    const sys::Clock& clock_;
    std::vector<Built> built_;
};

}  // namespace memsweep::engine
