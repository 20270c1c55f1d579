// A trace compiled for replay. Each thread has a sequence of packed operations on recycled slots. All sequences lie in
// one block of words that a worker process can map.
//
// A slot holds one live block. A block that only one thread uses stays in a slot of that thread, which no other thread
// accesses. A block that goes from one thread to another passes through a cell, which belongs to that pair of threads.
// The giver waits until the cell is empty, the taker until it is full. Giver and taker follow the order of the recorded
// events, so no replay can deadlock.
//
// The recorded order of all events is cut into steps (replay_steps.hpp), so that a replay needs hardly more memory than
// the recording. Each step allocates little memory. A thread begins its part of a step when all other threads have done
// their parts of the earlier steps. Within a step, threads run freely. So at any time, the live memory exceeds the
// recorded live memory by at most what one step allocates. As long as only one thread has events, the step goes on. So
// a trace of one thread is a single step, however long it is, and steps cost nothing. The first thread starts every
// other thread at that thread's first recorded event. Just before this start, the first thread joins the threads that
// have ended by this point of the recording. A thread ends at the point at which the recorded thread ended.
//
// Units    bytes, nanoseconds, counts. An operation is one word: kind in bits 0 to 3, slot or cell in 4 to 31, size in
//          32 to 63. An operation that does not fit (large sizes, alignments, resizes, transfers, pauses) is an
//          ExtendedOp. Its word then holds the index of the ExtendedOp instead of the size.
// Sources  slots, cells and the waits at cells are as in DJ Delorie's glibc trace runner (2016).
// Memory   8 bytes an operation, and 40 bytes more for an extended one.
// Errors   invalid_input from view(): words that this build did not write.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/expected.hpp"
#include "core/trace/event_selection.hpp"

namespace memsweep::trace {

enum class ReplayOp : std::uint8_t {
    allocate,
    zeroed,
    release,
    give,         // allocate, into a cell
    give_zeroed,  // allocate zeroed, into a cell
    take,         // release what is in a cell
    resize,       // resize the block in this slot; it stays in the slot; the details are in an ExtendedOp
    extended,     // all details are in an ExtendedOp
};

enum class ExtendedAction : std::uint8_t {
    allocate,
    zeroed,
    release,
    resize,
    pass,   // only moves a block from one slot or cell to another
    copy,   // copies between two blocks of this thread, from `slot` to `to`
    pace,   // waits until `size` nanoseconds after the replay's beginning
    enter,  // enters step `size` when all steps before are done; `from_cell`: first leaves its last step
    leave,  // leaves its last step
    spawn,  // starts the thread `to`
    join,   // waits for the end of the thread `to`
};

struct ExtendedOp {
    ExtendedAction action{};
    bool from_cell{};  // `slot` is a cell
    bool to_cell{};    // `to` is a cell
    std::uint8_t reserved{};
    std::uint32_t slot{};  // where the block to use lies
    std::uint32_t to{};    // where the resulting block goes
    std::uint32_t alignment{};
    std::uint32_t old_alignment{};
    std::uint32_t padding{};
    std::uint64_t size{};
    std::uint64_t old_size{};
};

inline constexpr std::uint32_t plain_alignment = 16;  // the alignment that malloc guarantees
inline constexpr std::uint32_t max_replay_slots = 1U << 28U;

[[nodiscard]] constexpr std::uint64_t packed(ReplayOp op, std::uint32_t slot, std::uint32_t size) noexcept
{
    return std::uint64_t{size} << 32U | std::uint64_t{slot} << 4U | static_cast<std::uint64_t>(op);
}

struct ReplayThread {
    std::uint64_t first_op{};  // the index of a word, from the beginning of the program
    std::uint64_t ops{};
    std::uint64_t first_extended{};  // the index of a word, from the beginning of the program
    std::uint64_t extended{};
    std::uint64_t body{};  // the number of recorded operations; the operations after them free the blocks that are left
    std::uint64_t events{};  // allocations, frees, resizes and transfers of the body
    std::uint64_t slots{};
    std::uint64_t ends{};  // 1: the thread ends after its body; 0: it ends after freeing the blocks that are left
};

struct ReplayTotals {
    std::uint64_t events{};  // on all threads
    std::uint64_t allocations{};
    std::uint64_t frees{};
    std::uint64_t handed_over{};  // blocks that went from one thread to another
    std::uint64_t left_out{};     // frees and transfers of blocks that are not live
    std::uint64_t peak_live_bytes{};
    std::uint64_t peak_live_bound{};  // the most that can be live in a replay, in whatever order its threads run
    std::uint64_t end_live_bytes{};   // at the last event
    std::uint64_t bytes_allocated{};
};

struct ReplayHeader {
    std::uint64_t magic{};
    std::uint64_t words{};
    std::uint64_t threads{};
    std::uint64_t cells{};
    std::uint64_t first_thread{};  // the index of a word
    std::uint64_t steps{};
    // the index of a word; from there on, one word per step: how many threads have a part of it
    std::uint64_t first_step{};
    ReplayTotals totals;
};

struct ReplayProgram {
    const ReplayHeader* header{};
    std::span<const ReplayThread> threads;
    std::span<const std::uint64_t> steps;  // for each step, the number of threads that have a part of it
    std::span<const std::uint64_t> words;

    [[nodiscard]] std::span<const std::uint64_t> ops(const ReplayThread& thread) const
    {
        return words.subspan(thread.first_op, thread.ops);
    }
    [[nodiscard]] const ExtendedOp* extended(const ReplayThread& thread) const
    {
        return reinterpret_cast<const ExtendedOp*>(words.data() + thread.first_extended);
    }
};

struct ReplayCompileOptions {
    std::uint32_t threads{};  // number of threads over which the recorded threads are distributed; 0: one for each
    bool paced{};             // replays at the recorded speed, by the stamps of the trace
    EventSelection selection{};
};

// Errors   invalid_input: more live blocks at once than max_replay_slots, or more than 1024 threads at a time.
[[nodiscard]] base::Expected<std::vector<std::uint64_t>> compile_replay(TraceReader& reader,
                                                                        const ReplayCompileOptions& options);

[[nodiscard]] base::Expected<ReplayProgram> view(std::span<const std::uint64_t> words);

}  // namespace memsweep::trace
