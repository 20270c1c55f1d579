// Finds out what a recorded program would hold without some of its call sites. Replays its trace with and without them,
// under its allocator, up to one moment.
//
// Units    bytes.
// Cost     a reading of the trace, and three replays, for each answer.
// Memory   of the compiled trace, and in another process what the program held.
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
    std::string trace;                       // path
    std::optional<trace::ExactCut> cut;      // at which the program was stopped
    std::uint64_t most_events{UINT64_MAX};   // or the moment of a whole trace, by trace::events_before
    std::optional<std::uint32_t> process{};  // of this one alone
    model::AllocatorSpec allocator;
};

class SiteRemoval {
  public:
    static constexpr std::uint32_t runs = 3;

    SiteRemoval(RemovalBasis basis, const sys::StopSignals& signals);

    // `nodes`: for each node of the trace's stacks, whether it is left out; empty: none is.
    [[nodiscard]] base::Expected<measure::ReplayedHeap> without(std::vector<bool> nodes);

  private:
    RemovalBasis basis_;
    sys::SystemClock clock_;
    engine::WorkerExecutor workers_;
};

// The allocator that served a recorded program, by the file that its recorder found (`served_by`, or the end of that
// path), so that a worker can be put under it.
// Errors   not_supported: it is part of the program itself, or is not on this machine.
[[nodiscard]] base::Expected<model::AllocatorSpec> allocator_to_replay(const std::string& served_by,
                                                                       const model::Variables& environment);

// The variables of a running process's environment that an allocator reads.
[[nodiscard]] model::Variables allocator_variables_of(int process);

}  // namespace memsweep::app
