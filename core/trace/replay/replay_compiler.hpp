// Collects the operations of each replaying thread while a trace is compiled for replay.
//
// Threads  one.
#pragma once

#include <cstdint>
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
    bool ends{};  // true: the thread ends after its recorded operations; false: after it has also freed what is left

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

    // Rewrites an operation that makes a block in a slot. The new operation leaves the block in a cell, for another
    // thread.
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

// Lays out a program whose threads are these sequences, and returns its words. `steps`: for each step
// (replay_steps.hpp), the number of threads that take part in it.
[[nodiscard]] std::vector<std::uint64_t> lay_out(const std::vector<ReplaySequence>& sequences,
                                                 const std::vector<std::uint64_t>& steps, std::uint64_t cells,
                                                 const ReplayTotals& totals);

}  // namespace memsweep::trace
