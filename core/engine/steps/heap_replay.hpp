// Replays a compiled trace in a fresh process that does nothing else. Measures how much memory the allocator holds at
// two moments: at the last event, when the remaining blocks are still live, and after a request to return memory.
//
// A trace does not say what a program wrote into its blocks. So the replay writes a byte into each page of each block.
// If a program leaves pages of its blocks unwritten, it holds less memory than its replay does.
//
// Units    bytes of anonymous memory, less what the process had before the replay. The request may also return some of
//          that earlier memory, so the figure after the request can be negative.
// Cost     for each run: the start of a process, and the replay.
// Errors   os: the replay did not reach its last event; the message says why. interrupted: the user asked to stop.
// Threads  one.
#pragma once

#include <chrono>
#include <cstdint>

#include "core/base/expected.hpp"
#include "core/engine/repetition/executor.hpp"
#include "core/engine/repetition/step_program.hpp"
#include "core/measure/site_return.hpp"
#include "core/model/allocator.hpp"
#include "core/trace/replay/replay_program.hpp"

namespace memsweep::engine {

struct HeapReplayOrder {
    PackedTrace trace;
    model::AllocatorSpec allocator;
    std::uint32_t runs{3};
    std::chrono::nanoseconds timeout{std::chrono::minutes{10}};  // of each run
};

// Errors   budget: a replay could hold more than four fifths of the memory that this machine has available.
[[nodiscard]] base::Expected<void> check_room_to_replay(const trace::ReplayTotals& totals);

// Replays the trace `order.runs` times. The result has, for each of the two moments, the smallest, the median and the
// largest value of all runs.
[[nodiscard]] base::Expected<measure::ReplayedHeap> replay_heap(Executor& workers, const HeapReplayOrder& order);

// The resident memory of the replaying process, including files, without the memory of the replayer itself.
struct ReplayResidence {
    std::uint64_t peak{};
    std::uint64_t end{};   // at the last event
    std::uint64_t idle{};  // after the idle time `rest`; equal to `end` if `rest` is 0
    std::uint64_t heap{};  // anonymous memory at the last event, less what the process had before the replay
};

// Each figure of the result is a median over the runs.
[[nodiscard]] base::Expected<ReplayResidence> replay_residence(Executor& workers, const HeapReplayOrder& order,
                                                               std::chrono::nanoseconds rest);

}  // namespace memsweep::engine
