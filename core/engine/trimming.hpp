// The trims of one repetition: those that steps ask for, and those of a policy on the working set.
//
// Sources  the resident set by the process probe.
// Cost     of the policy, before each operation: one reading of /proc/self/statm (about 2 us), which lies outside every
//          time, as does what it trims; what that costs the program shows in the faults that follow.
// Threads  the interpreter's.
#pragma once

#include <string>

#include "core/array/array.hpp"
#include "core/engine/environment.hpp"
#include "core/engine/run_region.hpp"
#include "core/engine/stopwatch.hpp"

namespace memsweep::engine {

class Trimming {
  public:
    Trimming(Environment environment, const model::TrimPolicy& policy, RepetitionRecord& record);

    void trim(const array::Array& array, model::TrimHow how);

    // Whether arrays have to be trimmed now; `trim_all` then trims those that the program can reach.
    template <typename TrimAll>
    void enforce(Stopwatch& stopwatch, const TrimAll& trim_all)
    {
        if (policy_.above_bytes == 0) {
            return;
        }
        const Stopwatch::Pause pause = stopwatch.pause();
        if (is_above()) {
            trim_all([this](const array::Array& array) { trim(array, policy_.how); });
        }
        stopwatch.resume(pause);
    }

  private:
    [[nodiscard]] bool is_above() const;

    sys::ProcessProbe& probe_;
    model::TrimPolicy policy_;
    RepetitionRecord& record_;
    std::string reclaim_file_;  // empty: there is none
};

}  // namespace memsweep::engine
