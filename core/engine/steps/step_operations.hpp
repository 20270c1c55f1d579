// The steps that bind no name and need no preparation: collect, drain, idle, purge, and the operations on pages (trim,
// prefetch, migrate, stream, share). Also the policy that trims arrays if the working set is above a limit.
//
// A new operation with counters of its own needs an execute() here, and a row in step_metrics.cpp for each counter.
// Nothing else in the engine changes.
//
// Sources  the process probe gives the working set.
// Cost     a step's system calls belong to its time. The trim policy takes a snapshot of /proc/self/smaps_rollup before
//          each operation. No measured time includes the snapshots or the policy's trims. The later page faults show
//          how much the trims cost the program.
// Errors   Refusal: the memory refused an allocation, the machine lacks the node of a migrate step, or a share step got
//          no second process. If the kernel refuses a trim or a prefetch, trimmed_bytes or prefetched_bytes becomes
//          unknown.
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

    // Does nothing: the loader accepts this step only in a parallel block, where thread_pool.cpp carries it out.
    void execute(const model::Pass<SlotIndex>& /*pass*/) {}

    // Purges the pool first, because the pool returns memory to the allocator, which is purged next.
    void execute(const model::PurgeStep& /*purge*/);

    void execute(const model::Trim<SlotIndex>& trimmed);

    void execute(const model::Prefetch<SlotIndex>& prefetch);

    [[nodiscard]] Refusal execute(const model::Migrate<SlotIndex>& migrate);

    void execute(const model::Stream<SlotIndex>& stream);

    [[nodiscard]] Refusal execute(const model::ShareStep& share);

    // If the working set is above the policy's limit, trims every array that the program can reach. `each_reachable`
    // visits these arrays.
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
