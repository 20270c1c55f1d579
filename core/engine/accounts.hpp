// What one repetition has taken: the counters of its world and of its process at the baseline, at the end, and at the
// points between.
//
// Cost     a point reads /proc unless it asks for the exact counters only; none of it is part of any time or fault
// count. Errors   false: the process could not read its own memory accounting. Threads  the interpreter's.
#pragma once

#include "core/engine/run_region.hpp"
#include "core/engine/stopwatch.hpp"
#include "core/engine/world.hpp"
#include "core/sys/process_probe.hpp"

namespace memsweep::engine {

class Accounts {
  public:
    Accounts(const RunRegion& region, World& world, sys::ProcessProbe& probe, Stopwatch& stopwatch)
        : region_{region}, record_{region.header->record}, world_{world}, probe_{probe}, stopwatch_{stopwatch}
    {
    }

    [[nodiscard]] bool take_baseline();
    [[nodiscard]] bool take_end();
    void sample(const Instruction& instruction);

  private:
    [[nodiscard]] memory::PoolStats pool_stats();
    void count_outstanding();
    void fill_point(PointRecord& point, const Instruction& instruction, std::chrono::nanoseconds now);

    const RunRegion& region_;
    RepetitionRecord& record_;
    World& world_;
    sys::ProcessProbe& probe_;
    Stopwatch& stopwatch_;
    std::uint64_t allocations_before_{};
    std::uint64_t bytes_before_{};
    std::uint64_t strays_before_{};
    std::int64_t began_ns_{};  // of the steady clock, as the drops of blocks
};

}  // namespace memsweep::engine
