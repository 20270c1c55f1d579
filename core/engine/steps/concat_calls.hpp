// The concat steps of one repetition. A case's inputs are made once, its calls are timed one by one, and a result is
// checked.
//
// Times and fault counts cover the timed calls alone. Each includes the allocation of its result, and its drop by the
// release discipline. Making inputs, warming up and checking are in none of them.
// Units    nanoseconds, bytes.
// Sources  NumSharp's sweep: warm-up calls, then calls timed one by one, results dropped and never disposed of.
// Cost     two clock reads per call; the check reads the last result once.
// Errors   Refusal: memory that could not be had. If concatenation itself refuses a case, it is a bug: NumPy takes all
//          of them.
// Ownership  holds the inputs until it goes, so it must go before the heap.
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

    // Visits the inputs of every case that was called, and the array that it writes to.
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

    // The array that the case writes to; none before its first run.
    [[nodiscard]] const array::Array& out(const Concat& concat) const;

  private:
    struct Built {
        std::uint16_t concat_case{};
        array::ConcatCall call;
    };
    [[nodiscard]] const Built* find(std::uint16_t concat_case) const;

    [[nodiscard]] memory::AllocStatus prepare(const Concat& concat);

    // Checks the last result before it is dropped. The check lies between two parts of the call's time, and is in
    // neither.
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
