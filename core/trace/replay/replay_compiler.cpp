#include "core/trace/replay/replay_compiler.hpp"

#include <algorithm>
#include <bit>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/checked.hpp"

namespace memsweep::trace {
namespace {

// A cell is used again only after so many others of its pair: giver and taker then work on different cache lines.
constexpr std::size_t resting_cells = 256;

constexpr std::size_t max_threads = 1024;
constexpr std::uint64_t max_alignment = 1U << 30U;

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
    ThreadIndex thread_of(const RecordedThread& recorded)
    {
        if (recorded == last_recorded_ && !indices_.empty()) {
            return last_thread_;
        }
        last_recorded_ = recorded;
        const auto number = static_cast<std::uint32_t>(indices_.size());
        const ThreadIndex dealt = threads_ == 0 ? number : number % threads_;
        const auto [place, is_new] = indices_.try_emplace(recorded, dealt);
        last_thread_ = place->second;
        if (is_new) {
            if (last_thread_ >= sequences_->size()) {
                sequences_->resize(std::size_t{last_thread_} + 1);
            }
            await_start(thread_starts_, recorded, last_thread_);
            await_start(process_starts_, {recorded.first, 0}, last_thread_);
        }
        return last_thread_;
    }
    void start_thread(ThreadIndex starter, const RecordedThread& started)
    {
        thread_starts_[started] = place_for_signal(starter);
    }
    void start_process(ThreadIndex starter, std::uint32_t process)
    {
        process_starts_[{process, 0}] = place_for_signal(starter);
    }

    // A cell for a block that `giver` made at event `made_at` and that `taker` uses at event `now`. It belongs to this
    // pair alone, and was emptied before the block was made: giver and taker then see its uses in the same order, and
    // the giver never waits for what comes later.
    std::uint32_t take_cell(ThreadIndex giver, ThreadIndex taker, std::uint64_t made_at, std::uint64_t now)
    {
        std::deque<UsedCell>& cells = pair_cells_[{giver, taker}];
        std::uint32_t cell = cells_;
        if (cells.size() >= resting_cells && cells.front().emptied_at < made_at) {
            cell = cells.front().cell;
            cells.pop_front();
        } else {
            ++cells_;
        }
        cells.push_back({cell, now});
        return cell;
    }

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

    void await_start(Starts& starts, const RecordedThread& started, ThreadIndex thread)
    {
        const auto found = starts.extract(started);
        if (!found.empty() && found.mapped().starter != thread) {
            const auto [starter, op] = found.mapped();
            const std::uint32_t cell = cells_++;
            (*sequences_)[starter].extended_of(op) = {.action = ExtendedAction::signal, .to_cell = true, .to = cell};
            (*sequences_)[thread].put({.action = ExtendedAction::await, .from_cell = true, .slot = cell});
        }
    }
    // Becomes a signal if another thread turns out to replay what is started.
    Start place_for_signal(ThreadIndex thread)
    {
        ReplaySequence& sequence = (*sequences_)[thread];
        sequence.put({.action = ExtendedAction::pace});  // until time 0: no wait
        return {thread, sequence.last_op()};
    }

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

struct Block {
    std::uint64_t size{};
    std::uint64_t made_by{};  // the owner's operation
    std::uint64_t made_at{};  // the event
    ThreadIndex owner{};
    std::uint32_t slot{};
    std::uint32_t alignment{plain_alignment};
};

bool is_plain(std::uint64_t size, std::uint32_t alignment)
{
    return size <= UINT32_MAX && alignment <= plain_alignment;
}

// Events to packed operations. A block's slot is chosen when it is allocated. That the block will go to another thread
// shows only when that thread uses it: the operation that made the block is then rewritten to give it away.
class ReplayCompiler {
  public:
    ReplayCompiler(const ReplayCompileOptions& options, std::uint64_t ticks_per_second)
        : options_{options}, ns_per_tick_{1e9 / static_cast<double>(std::max<std::uint64_t>(ticks_per_second, 1))}
    {
    }
    ReplayCompiler(const ReplayCompiler&) = delete;
    ReplayCompiler& operator=(const ReplayCompiler&) = delete;

    void add(const Event& event)
    {
        ++now_;
        events_ += event.kind != EventKind::define_space ? 1U : 0U;
        switch (event.kind) {
        case EventKind::malloc:
        case EventKind::calloc:
        case EventKind::aligned_alloc:
        case EventKind::realloc:
        case EventKind::free:
            change_blocks(begin(event), event);
            break;
        case EventKind::copy:
        case EventKind::move:
            transfer(begin(event), event);
            break;
        case EventKind::thread_start:
            order_.start_thread(begin(event), {event.process, event.other});
            break;
        case EventKind::fork:
            order_.start_process(begin(event), event.other);
            break;
        case EventKind::exec:
        case EventKind::process_exit:
            end_process(begin(event), event.process);
            break;
        case EventKind::free_requested:
        case EventKind::failed_alloc:
        case EventKind::map:
        case EventKind::unmap:
        case EventKind::external:
        case EventKind::external_end:
        case EventKind::thread_exit:
        case EventKind::label:
        case EventKind::define_space:
            break;
        }
    }

    base::Expected<std::vector<std::uint64_t>> finish()
    {
        MEMSWEEP_TRY(possible_total(impossible_event_, {}));
        for (ReplaySequence& sequence : sequences_) {
            sequence.body = sequence.ops.size();
        }
        walk_.live().for_each([this](const BlockKey&, const LiveBlock& live) {
            const Block& block = blocks_[live.tag];
            put_release(sequences_[block.owner], block, {block.slot, false});
        });
        totals_.peak_live_bytes = walk_.peak_live_bytes();
        totals_.end_live_bytes = walk_.live_bytes();
        std::uint64_t slots = order_.cells();
        for (const ReplaySequence& sequence : sequences_) {
            totals_.events += sequence.events;
            slots = std::max<std::uint64_t>(slots, sequence.slots.count());
        }
        if (sequences_.size() > max_threads) {
            return base::fail(base::ErrorCode::invalid_input,
                              fmt::format("the trace has {} threads, and a replay at most {}: --threads deals them out",
                                          sequences_.size(), max_threads));
        }
        if (slots >= max_replay_slots) {
            return base::fail(
                base::ErrorCode::invalid_input,
                fmt::format("{} blocks are live at once; a replay has place for {}", slots, max_replay_slots));
        }
        return lay_out(sequences_, order_.cells(), totals_);
    }

  private:
    // Where a thread finds a block: in a slot of its own, or in the cell that another thread leaves it in.
    struct Source {
        std::uint32_t slot{};
        bool is_cell{};
    };

    // The thread that replays the event, paced up to it.
    ThreadIndex begin(const Event& event)
    {
        const ThreadIndex thread = order_.thread_of({event.process, event.thread});
        if (!first_ticks_) {
            first_ticks_ = event.ticks;
        }
        ReplaySequence& sequence = sequences_[thread];
        if (options_.paced && event.ticks > sequence.last_ticks) {
            sequence.last_ticks = event.ticks;
            sequence.put({.action = ExtendedAction::pace, .size = to_ns(event.ticks)});
        }
        return thread;
    }

    void change_blocks(ThreadIndex thread, const Event& event)
    {
        const BlockWalk::Change change = walk_.add(event);
        totals_.left_out += change.frees_unknown ? 1U : 0U;
        impossible_event_ = change.overflows && impossible_event_ == 0 ? events_ : impossible_event_;
        if (change.replaced) {
            release(thread, change.replaced->tag);
        }
        sequences_[thread].events += change.freed || change.made ? 1U : 0U;
        totals_.frees += change.freed ? 1U : 0U;
        totals_.allocations += change.made ? 1U : 0U;
        if (change.made) {
            totals_.bytes_allocated = base::saturating_add(totals_.bytes_allocated, change.made->size);
        }
        if (change.freed && change.made) {
            resize(thread, *change.freed, *change.made);
        } else if (change.freed) {
            release(thread, change.freed->tag);
        } else if (change.made) {
            allocate(thread, event, change.made->tag);
        }
    }

    void allocate(ThreadIndex thread, const Event& event, std::uint32_t tag)
    {
        const auto alignment = event.kind == EventKind::aligned_alloc && event.alignment > plain_alignment
                                   ? std::bit_ceil(static_cast<std::uint32_t>(std::min(event.alignment, max_alignment)))
                                   : plain_alignment;
        ReplaySequence& sequence = sequences_[thread];
        const std::uint32_t slot = sequence.slots.take();
        const bool zeroed = event.kind == EventKind::calloc;
        if (is_plain(event.size, alignment)) {
            sequence.put(zeroed ? ReplayOp::zeroed : ReplayOp::allocate, slot, event.size);
        } else {
            sequence.put({.action = zeroed ? ExtendedAction::zeroed : ExtendedAction::allocate,
                          .to = slot,
                          .alignment = alignment,
                          .size = event.size});
        }
        insert(tag, {.size = event.size, .owner = thread, .slot = slot, .alignment = alignment});
    }

    // The new block may have the number of the old one.
    void resize(ThreadIndex thread, const LiveBlock& from, const LiveBlock& made)
    {
        ReplaySequence& sequence = sequences_[thread];
        const Block old = blocks_[from.tag];
        const Source source = use(thread, from.tag);
        const std::uint32_t to = source.is_cell ? sequence.slots.take() : source.slot;
        sequence.put({.action = ExtendedAction::resize,
                      .from_cell = source.is_cell,
                      .slot = source.slot,
                      .to = to,
                      .alignment = plain_alignment,
                      .old_alignment = old.alignment,
                      .size = made.size,
                      .old_size = old.size});
        insert(made.tag, {.size = made.size, .owner = thread, .slot = to});
    }

    void release(ThreadIndex thread, std::uint32_t tag)
    {
        const Block block = blocks_[tag];
        const Source source = use(thread, tag);
        put_release(sequences_[thread], block, source);
        if (!source.is_cell) {
            sequences_[thread].slots.give_back(source.slot);
        }
    }

    void end_process(ThreadIndex thread, std::uint32_t process)
    {
        walk_.end_process(process, [&](const LiveBlock& block) { release(thread, block.tag); });
    }

    static void put_release(ReplaySequence& sequence, const Block& block, const Source& source)
    {
        if (is_plain(block.size, block.alignment)) {
            sequence.put(source.is_cell ? ReplayOp::take : ReplayOp::release, source.slot, block.size);
        } else {
            sequence.put({.action = ExtendedAction::release,
                          .from_cell = source.is_cell,
                          .slot = source.slot,
                          .old_alignment = block.alignment,
                          .old_size = block.size});
        }
    }

    void transfer(ThreadIndex thread, const Event& event)
    {
        const LiveBlock* from = walk_.live().find({event.old_address, event.process, event.source_space});
        const LiveBlock* to = walk_.live().find(key_of(event, event.address));
        if (from == nullptr || to == nullptr || from->tag == to->tag) {
            ++totals_.left_out;
            return;
        }
        ReplaySequence& sequence = sequences_[thread];
        ++sequence.events;
        own(thread, from->tag);
        own(thread, to->tag);
        const Block& source = blocks_[from->tag];
        const Block& target = blocks_[to->tag];
        const std::uint64_t bytes = std::min(source.size, target.size);
        sequence.put({.action = ExtendedAction::copy,
                      .slot = source.slot,
                      .to = target.slot,
                      .size = event.size == 0 ? bytes : std::min(event.size, bytes)});
        // Another thread may use the blocks next: each needs an operation that can be rewritten to give it away.
        renew(thread, from->tag);
        renew(thread, to->tag);
    }

    // Moves a block of another thread into a slot of this one.
    void own(ThreadIndex thread, std::uint32_t tag)
    {
        Block& block = blocks_[tag];
        if (block.owner == thread) {
            return;
        }
        const Source source = use(thread, tag);
        block.owner = thread;
        block.slot = sequences_[thread].slots.take();
        sequences_[thread].put({.action = ExtendedAction::pass,
                                .from_cell = true,
                                .slot = source.slot,
                                .to = block.slot,
                                .size = block.size});
        mark_made(block);
    }

    void renew(ThreadIndex thread, std::uint32_t tag)
    {
        if (sequences_.size() > 1 || options_.threads != 1) {
            Block& block = blocks_[tag];
            sequences_[thread].put({.action = ExtendedAction::pass, .slot = block.slot, .to = block.slot});
            mark_made(block);
        }
    }

    // Where the thread finds the block. If another thread made it, that thread is made to give it away.
    Source use(ThreadIndex thread, std::uint32_t tag)
    {
        const Block& block = blocks_[tag];
        if (block.owner == thread) {
            return {block.slot, false};
        }
        ++totals_.handed_over;
        const std::uint32_t cell = order_.take_cell(block.owner, thread, block.made_at, now_);
        sequences_[block.owner].give_away(block.made_by, cell);
        sequences_[block.owner].slots.give_back(block.slot);
        return {cell, true};
    }

    void insert(std::uint32_t tag, Block block)
    {
        mark_made(block);
        if (tag >= blocks_.size()) {
            blocks_.resize(std::size_t{tag} + 1);
        }
        blocks_[tag] = block;
    }

    // By the last operation of its owner.
    void mark_made(Block& block) const
    {
        block.made_by = sequences_[block.owner].last_op();
        block.made_at = now_;
    }

    [[nodiscard]] std::uint64_t to_ns(std::uint64_t ticks) const
    {
        const std::uint64_t first = first_ticks_.value_or(0);
        return ticks <= first ? 0 : static_cast<std::uint64_t>(static_cast<double>(ticks - first) * ns_per_tick_);
    }

    ReplayCompileOptions options_;
    double ns_per_tick_;
    std::vector<ReplaySequence> sequences_;
    ReplayOrder order_{sequences_, options_.threads};
    BlockWalk walk_;
    std::vector<Block> blocks_;  // by their numbers in the walk
    ReplayTotals totals_;
    std::uint64_t now_{};               // the event's number
    std::uint64_t events_{};            // the same, as totals count: without definitions of spaces
    std::uint64_t impossible_event_{};  // see possible_total()
    std::optional<std::uint64_t> first_ticks_;
};

}  // namespace

base::Expected<std::vector<std::uint64_t>> compile_replay(TraceReader& reader, const ReplayCompileOptions& options)
{
    ReplayCompiler compiler{options, reader.header().ticks_per_second};
    Event event;
    while (reader.next(event)) {
        compiler.add(event);
    }
    return compiler.finish();
}

}  // namespace memsweep::trace
