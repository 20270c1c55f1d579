// The operations of steps that neither bind a name nor need anything prepared: collections, pauses, and operations on
// pages, which find, prefetch, trim, migrate, stream through and share them. Also the policy that trims arrays while
// the working set is above its limit.
//
// A new operation with counters of its own is an execute() here and a row of step_metrics.cpp for each counter; nothing
// else in the engine knows it.
//
// Sources  the resident set by the process probe.
// Cost     a step costs its own system calls, which belong to its time. The policy reads /proc/self/statm before each
//          operation (about 2 us). This and its trims lie outside every time; their cost to the program shows in the
//          faults that follow.
// Errors   Refusal: memory that could not be had; a trim or a prefetch that the kernel refuses makes its count unknown.
// Threads  the interpreter's.
#pragma once

#include <string>

#include "core/engine/steps/accounts.hpp"
#include "core/engine/steps/environment.hpp"
#include "core/engine/steps/named_arrays.hpp"
#include "core/memory/paging.hpp"
#include "core/sys/cgroup_memory.hpp"

namespace memsweep::engine {

class StepOperations {
  public:
    StepOperations(Environment environment, CaseMemory& memory, NamedArrays& arrays, StepRecord& record);

    void execute(const model::CollectStep& /*collect*/) { memory_.heap.collect(); }

    void execute(const model::DrainStep& /*drain*/);

    void execute(const model::IdleStep& idle) { clock_.sleep_for(idle.duration); }

    // The loader accepts this step only in a parallel block.
    void execute(const model::Pass<SlotIndex>& /*pass*/) {}

    // Purges the pool first: the memory that it gives back then lies idle in the allocator.
    void execute(const model::PurgeStep& /*purge*/);

    void execute(const model::Trim<SlotIndex>& trimmed);

    void execute(const model::Prefetch<SlotIndex>& prefetch);

    [[nodiscard]] Refusal execute(const model::Migrate<SlotIndex>& migrate);

    void execute(const model::Stream<SlotIndex>& stream);

    [[nodiscard]] Refusal execute(const model::ShareStep& share);

    // Trims what the program can reach while the working set is above the policy's limit; `each_reachable` visits it.
    template <typename EachReachable>
    void enforce_limit(Stopwatch& stopwatch, const EachReachable& each_reachable)
    {
        const model::TrimPolicy& policy = memory_.spec.trim;
        if (policy.above_bytes == 0) {
            return;
        }
        const Stopwatch::Pause pause = stopwatch.pause();
        if (const auto now = probe_.snapshot(); now && now->working_set_bytes() > policy.above_bytes) {
            each_reachable([this, &policy](const array::Array& array) { trim(array, policy.how); });
        }
        stopwatch.resume(pause);
    }

  private:
    using Id = model::MetricId;

    void count_ns(Id metric, std::chrono::nanoseconds took);

    void trim(const array::Array& array, model::TrimHow how);

    const sys::Clock& clock_;
    sys::ProcessProbe& probe_;
    CaseMemory& memory_;
    NamedArrays& arrays_;
    StepRecord& record_;
    std::string reclaim_file_;  // empty: there is none
};

}  // namespace memsweep::engine
