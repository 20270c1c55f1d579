// What a trace becomes while it is compiled for replay: the operations of each replaying thread, and what orders them.
//
// Threads  one.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "core/trace/live_blocks.hpp"
#include "core/trace/replay/replay_program.hpp"

namespace memsweep::trace {

// The operations of one thread, and the slots of its blocks.
struct ReplaySequence {
    std::vector<std::uint64_t> ops;
    std::vector<ExtendedOp> extended;
    RecycledNumbers slots;
    std::uint64_t body{};
    std::uint64_t events{};
    std::uint64_t last_ticks{};

    void put(ReplayOp op, std::uint32_t slot, std::uint64_t size)
    {
        ops.push_back(packed(op, slot, static_cast<std::uint32_t>(size)));
    }
    void put(const ExtendedOp& op)
    {
        const bool stays = op.action == ExtendedAction::resize && !op.from_cell;
        ops.push_back(packed(stays ? ReplayOp::resize : ReplayOp::extended, stays ? op.slot : 0,
                             static_cast<std::uint32_t>(extended.size())));
        extended.push_back(op);
    }
    [[nodiscard]] std::uint64_t last_op() const { return ops.size() - 1; }
    [[nodiscard]] ExtendedOp& extended_of(std::uint64_t op)
    {
        return extended[static_cast<std::uint32_t>(ops[op] >> 32U)];
    }

    // Rewrites an operation that makes a block in a slot: it then leaves the block in a cell, for another thread.
    void give_away(std::uint64_t op, std::uint32_t cell)
    {
        std::uint64_t& word = ops[op];
        const auto kind = static_cast<ReplayOp>(word & 0xFU);
        const auto size = static_cast<std::uint32_t>(word >> 32U);
        if (kind == ReplayOp::extended || kind == ReplayOp::resize) {
            word = packed(ReplayOp::extended, 0, size);
            extended[size].to_cell = true;
            extended[size].to = cell;
        } else {
            word = packed(kind == ReplayOp::zeroed ? ReplayOp::give_zeroed : ReplayOp::give, cell, size);
        }
    }
};

// The words of a program whose threads are these sequences.
[[nodiscard]] std::vector<std::uint64_t> lay_out(const std::vector<ReplaySequence>& sequences, std::uint64_t cells,
                                                 const ReplayTotals& totals);

using ThreadIndex = std::uint32_t;
using RecordedThread = std::pair<std::uint32_t, std::uint32_t>;  // process, thread

// What orders the threads of a replay: which thread replays which recorded one, who waits for whose start, and the
// cells through which blocks go from one thread to another.
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
