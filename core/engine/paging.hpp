// The steps that say where pages are: brought in, taken away, moved between nodes, streamed through, shared. And the
// policy that trims arrays while the working set is above its limit.
//
// Sources  the resident set by the process probe.
// Cost     of a step: its own system calls, which belong to its time. Of the policy, before each operation: one reading
//          of /proc/self/statm (about 2 us), which lies outside every time, as does what it trims; what that costs the
//          program shows in the faults that follow.
// Errors   AllocStatus of what could not be had; a trim or a prefetch that the kernel refuses is counted in the record.
// Threads  the interpreter's.
#pragma once

#include <string>

#include "core/engine/environment.hpp"
#include "core/engine/named_arrays.hpp"
#include "core/engine/stopwatch.hpp"

namespace memsweep::engine {

class Paging {
  public:
    Paging(Environment environment, const model::TrimPolicy& policy, RepetitionRecord& record);

    void trim(const Handles& handles, model::TrimHow how);
    void prefetch(const Handles& handles, model::PrefetchHow how);
    [[nodiscard]] memory::AllocStatus migrate(const Handles& handles, std::uint32_t node);
    void stream(const Handles& handles, const model::Stream<SlotIndex>& stream);
    [[nodiscard]] memory::AllocStatus share(const model::ShareStep& share);

    // Trims what the program can reach while the working set is above the policy's limit; `each_reachable` visits it.
    template <typename EachReachable>
    void enforce_limit(Stopwatch& stopwatch, const EachReachable& each_reachable)
    {
        if (policy_.above_bytes == 0) {
            return;
        }
        const Stopwatch::Pause pause = stopwatch.pause();
        if (is_above_limit()) {
            each_reachable([this](const array::Array& array) { trim(array, policy_.how); });
        }
        stopwatch.resume(pause);
    }

  private:
    [[nodiscard]] bool is_above_limit() const;
    void trim(const array::Array& array, model::TrimHow how);

    const sys::Clock& clock_;
    sys::ProcessProbe& probe_;
    model::TrimPolicy policy_;
    RepetitionRecord& record_;
    std::string reclaim_file_;  // empty: there is none
};

}  // namespace memsweep::engine
