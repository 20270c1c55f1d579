// Finds out how much memory a recorded program would hold without the allocations of some call sites. Replays the
// program's trace with and without these allocations, under the program's allocator, up to a given moment.
//
// Units    bytes.
// Cost     without(): one reading of the trace and three replays.
// Memory   the compiled trace, in this process. Each replay has a process of its own, which takes as much memory as the
//          program held.
// Errors   those of reading and compiling the trace; budget: too little memory is left; those of replay_heap.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/expected.hpp"
#include "core/engine/steps/heap_replay.hpp"
#include "core/engine/steps/worker_executor.hpp"
#include "core/measure/site_return.hpp"
#include "core/model/allocator.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/signals.hpp"
#include "core/trace/event_selection.hpp"
#include "core/trace/exact_cut.hpp"

namespace memsweep::app {

struct RemovalBasis {
    std::string trace;                       // path of the trace
    std::optional<trace::ExactCut> cut;      // replay up to the moment at which the program was stopped
    std::uint64_t most_events{UINT64_MAX};   // or, without `cut`, replay this many events (trace::events_before)
    std::optional<std::uint32_t> process{};  // replay this process only; absent: all
    model::AllocatorSpec allocator;
};

class SiteRemoval {
  public:
    static constexpr std::uint32_t runs = 3;

    SiteRemoval(RemovalBasis basis, const sys::StopSignals& signals);

    // Replays the trace without some call sites. `nodes`: for each node of the trace's tree of call stacks, whether the
    // allocations of this node are left out; empty: no allocation is left out.
    [[nodiscard]] base::Expected<measure::ReplayedHeap> without(std::vector<bool> nodes);

  private:
    RemovalBasis basis_;
    sys::SystemClock clock_;
    engine::WorkerExecutor workers_;
};

// Returns the settings with which a worker process starts under the allocator of a recorded program. `served_by`: the
// path of the library that has the program's malloc; of a long path, only the end.
// Errors   not_supported: the allocator is linked into the program itself, is not known, or is not on this machine.
[[nodiscard]] base::Expected<model::AllocatorSpec> allocator_to_replay(const std::string& served_by,
                                                                       const model::Variables& environment);

// Returns those environment variables of a running process that its allocator reads. LD_PRELOAD is not among them.
[[nodiscard]] model::Variables allocator_variables_of(int process);

}  // namespace memsweep::app
