// What an allocator holds at the last event of a compiled trace, before anything else is freed, and what it still holds
// once it was asked to give back: replayed in a fresh process, with nothing else in it.
//
// What a program wrote into its blocks is not in its trace: a byte of each page that a block lies in is written. A
// program that leaves pages of its blocks unwritten holds less than its replay.
//
// Units    bytes of anonymous memory, less what the process had before the replay. A request may return of that, too:
//          what is held after it may be less than nothing.
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

// Of the runs, each figure by itself.
[[nodiscard]] base::Expected<measure::ReplayedHeap> replay_heap(Executor& workers, const HeapReplayOrder& order);

// What is resident of the replaying process, files too, less what the replay itself takes.
struct ReplayResidence {
    std::uint64_t peak{};
    std::uint64_t end{};   // at the last event
    std::uint64_t idle{};  // when it has rested after that; `end` if it was not to rest
    std::uint64_t heap{};  // of `end`, anonymous memory that the process did not have before
};

// Likewise.
[[nodiscard]] base::Expected<ReplayResidence> replay_residence(Executor& workers, const HeapReplayOrder& order,
                                                               std::chrono::nanoseconds rest);

}  // namespace memsweep::engine
