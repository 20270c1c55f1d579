// What one repetition has taken: the counters of its memory and of its process at the baseline, at the end, and at the
// points between.
//
// Cost     a point reads /proc unless it asks for the exact counters only; none of it is part of any time or fault
//          count.
// Errors   false: the process could not read its own memory accounting.
// Threads  the interpreter's.
#pragma once

#include "core/engine/case_memory.hpp"
#include "core/engine/run_region.hpp"
#include "core/engine/stopwatch.hpp"
#include "core/sys/process_probe.hpp"

namespace memsweep::engine {

class Accounts {
  public:
    Accounts(const RunRegion& region, CaseMemory& memory, sys::ProcessProbe& probe, Stopwatch& stopwatch)
        : region_{region}, record_{region.header->record}, memory_{memory}, probe_{probe}, stopwatch_{stopwatch}
    {
    }

    [[nodiscard]] bool take_baseline();
    [[nodiscard]] bool take_end();
    void sample(const Sample& sample);

  private:
    [[nodiscard]] memory::PoolStats pool_stats();
    void count_outstanding();
    void fill_point(PointRecord& point, const Sample& sample, std::chrono::nanoseconds now);

    const RunRegion& region_;
    RepetitionRecord& record_;
    CaseMemory& memory_;
    sys::ProcessProbe& probe_;
    Stopwatch& stopwatch_;
    std::uint64_t allocations_before_{};
    std::uint64_t bytes_before_{};
    std::uint64_t strays_before_{};
    std::int64_t began_ns_{};  // of the steady clock, as the drops of blocks
};

}  // namespace memsweep::engine
