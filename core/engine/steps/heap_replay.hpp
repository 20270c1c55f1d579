// Replays a compiled trace in a fresh process with nothing else in it. Says how much the allocator holds at the last
// event, before anything else is freed, and how much it still holds after it was asked to give memory back.
//
// A trace does not say what a program wrote into its blocks. So the replay writes a byte of each page of each block. A
// program that leaves pages of its blocks unwritten holds less than its replay.
//
// Units    bytes of anonymous memory, less what the process had before the replay. A request may also return some of
//          that, so the bytes held after it may be negative.
// Cost     the start of a process, and the replay.
// Errors   os: the replay did not come to its last event; the message says why. interrupted: the user asked to stop.
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
    std::chrono::nanoseconds timeout{std::chrono::minutes{10}};  // of each
};

// budget: a replay would hold more than this machine has left.
[[nodiscard]] base::Expected<void> check_room_to_replay(const trace::ReplayTotals& totals);

// Each figure of the result is taken over the runs by itself.
[[nodiscard]] base::Expected<measure::ReplayedHeap> replay_heap(Executor& workers, const HeapReplayOrder& order);

// The resident memory of the replaying process, including files, less what the replay itself takes.
struct ReplayResidence {
    std::uint64_t peak{};
    std::uint64_t end{};   // at the last event
    std::uint64_t idle{};  // after it has rested; `end` if it was not to rest
    std::uint64_t heap{};  // the part of `end` that is anonymous and was not there before
};

// Each figure of the result is taken over the runs by itself.
[[nodiscard]] base::Expected<ReplayResidence> replay_residence(Executor& workers, const HeapReplayOrder& order,
                                                               std::chrono::nanoseconds rest);

}  // namespace memsweep::engine
