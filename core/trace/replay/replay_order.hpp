// What orders the threads of a replay: which thread replays which recorded one, who waits for whose start, and the
// cells through which blocks go from one thread to another.
//
// Threads  one.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "core/trace/replay/replay_sequence.hpp"

namespace memsweep::trace {

using ThreadIndex = std::uint32_t;
using RecordedThread = std::pair<std::uint32_t, std::uint32_t>;  // process, thread

class ReplayOrder {
  public:
    // Recorded threads are dealt out to `threads` sequences; 0: each has one of its own.
    ReplayOrder(std::vector<ReplaySequence>& sequences, std::uint32_t threads)
        : sequences_{&sequences}, threads_{threads}
    {
    }

    // The thread that replays a recorded one. A new one begins with a wait for the thread that started it.
    ThreadIndex thread_of(const RecordedThread& recorded);
    void start_thread(ThreadIndex starter, const RecordedThread& started);
    void start_process(ThreadIndex starter, std::uint32_t process);

    // A cell for a block that `giver` made at event `made_at` and that `taker` uses at event `now`.
    std::uint32_t take_cell(ThreadIndex giver, ThreadIndex taker, std::uint64_t made_at, std::uint64_t now);

    [[nodiscard]] std::uint32_t cells() const noexcept { return cells_; }

  private:
    struct Start {
        ThreadIndex starter{};
        std::uint64_t op{};  // of the starter: the place for a signal
    };
    struct UsedCell {
        std::uint32_t cell{};
        std::uint64_t emptied_at{};
    };
    using Starts = std::map<RecordedThread, Start>;

    void await_start(Starts& starts, const RecordedThread& started, ThreadIndex thread);
    Start place_for_signal(ThreadIndex thread);

    std::vector<ReplaySequence>* sequences_;
    std::uint32_t threads_;
    std::map<RecordedThread, ThreadIndex> indices_;
    Starts thread_starts_;
    Starts process_starts_;  // under thread 0
    std::map<std::pair<ThreadIndex, ThreadIndex>, std::deque<UsedCell>> pair_cells_;
    std::uint32_t cells_{};
    RecordedThread last_recorded_{};
    ThreadIndex last_thread_{};
};

}  // namespace memsweep::trace
