#include "core/trace/replay/replay_compiler.hpp"

#include <algorithm>
#include <bit>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <utility>

#include <fmt/format.h>

#include "core/base/checked.hpp"
#include "core/trace/replay/replay_lives.hpp"
#include "core/trace/replay/replay_steps.hpp"

namespace memsweep::trace {
namespace {

// A cell is used again only after so many others of its pair: giver and taker then work on different cache lines.
constexpr std::size_t resting_cells = 256;

constexpr std::size_t max_threads = 1024;
constexpr std::uint64_t max_alignment = 1U << 30U;

// The cells through which blocks go from one thread to another.
class ReplayCells {
  public:
    // A cell for a block that `giver` made at event `made_at` and that `taker` uses at event `now`. It belongs to this
    // pair alone, and was emptied before the block was made: giver and taker then see its uses in the same order, and
    // the giver never waits for what comes later.
    std::uint32_t take(ThreadIndex giver, ThreadIndex taker, std::uint64_t made_at, std::uint64_t now)
    {
        std::deque<UsedCell>& cells = by_pair_[{giver, taker}];
        std::uint32_t cell = count_;
        if (cells.size() >= resting_cells && cells.front().emptied_at < made_at) {
            cell = cells.front().cell;
            cells.pop_front();
        } else {
            ++count_;
        }
        cells.push_back({cell, now});
        return cell;
    }
    [[nodiscard]] std::uint32_t count() const noexcept { return count_; }

  private:
    struct UsedCell {
        std::uint32_t cell{};
        std::uint64_t emptied_at{};
    };
    std::map<std::pair<ThreadIndex, ThreadIndex>, std::deque<UsedCell>> by_pair_;
    std::uint32_t count_{};
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
    ReplayCompiler(const ReplayCompileOptions& options, const ReplaySurvey& survey, std::uint64_t ticks_per_second)
        : options_{options}, survey_{survey}, steps_{survey.peak_live_bytes},
          ns_per_tick_{1e9 / static_cast<double>(std::max<std::uint64_t>(ticks_per_second, 1))}
    {
    }
    ReplayCompiler(const ReplayCompiler&) = delete;
    ReplayCompiler& operator=(const ReplayCompiler&) = delete;

    void add(const Event& event)
    {
        ++now_;
        life_ = lives_.follow(event);
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
        case EventKind::exec:
        case EventKind::process_exit:
            ending_.emplace_back(event.process, life_);
            break;
        case EventKind::thread_exit:
            end_thread();
            break;
        case EventKind::thread_start:
        case EventKind::fork:
        case EventKind::free_requested:
        case EventKind::failed_alloc:
        case EventKind::map:
        case EventKind::unmap:
        case EventKind::external:
        case EventKind::external_end:
        case EventKind::label:
        case EventKind::define_space:
            break;
        }
    }

    base::Expected<std::vector<std::uint64_t>> finish()
    {
        MEMSWEEP_TRY(possible_total(impossible_event_, {}));
        for (ReplaySequence& sequence : sequences_) {
            if (steps_.members().size() > 1) {
                sequence.put({.action = ExtendedAction::leave});
            }
            sequence.body = sequence.ops.size();
        }
        walk_.live().for_each([this](const BlockKey&, const LiveBlock& live) {
            const Block& block = blocks_[live.tag];
            put_release(sequences_[block.owner], block, {block.slot, false});
        });
        totals_.peak_live_bytes = walk_.peak_live_bytes();
        totals_.peak_live_bound = std::max(steps_.bound(), totals_.peak_live_bytes);
        totals_.end_live_bytes = walk_.live_bytes();
        std::uint64_t slots = cells_.count();
        for (const ReplaySequence& sequence : sequences_) {
            totals_.events += sequence.events;
            slots = std::max<std::uint64_t>(slots, sequence.slots.count());
        }
        if (most_threads_ > max_threads) {
            return base::fail(
                base::ErrorCode::invalid_input,
                fmt::format("the trace has {} threads at a time, and a replay at most {}: --threads deals "
                            "them out",
                            most_threads_, max_threads));
        }
        if (slots >= max_replay_slots) {
            return base::fail(
                base::ErrorCode::invalid_input,
                fmt::format("{} blocks are live at once; a replay has place for {}", slots, max_replay_slots));
        }
        return lay_out(sequences_, steps_.members(), cells_.count(), totals_);
    }

  private:
    // Where a thread finds a block: in a slot of its own, or in the cell that another thread leaves it in.
    struct Source {
        std::uint32_t slot{};
        bool is_cell{};
    };

    // The thread that replays the event: it has come to the event's step, and is paced up to it.
    ThreadIndex begin(const Event& event)
    {
        end_processes();
        const ThreadIndex thread = thread_of(life_);
        if (!first_ticks_) {
            first_ticks_ = event.ticks;
        }
        const bool allocates = is_allocation(event.kind) || event.kind == EventKind::realloc;
        enter(thread, allocates ? event.size : 0);
        ReplaySequence& sequence = sequences_[thread];
        if (options_.paced && event.ticks > sequence.last_ticks) {
            sequence.last_ticks = event.ticks;
            sequence.put({.action = ExtendedAction::pace, .size = to_ns(event.ticks)});
        }
        return thread;
    }

    void enter(ThreadIndex thread, std::uint64_t bytes)
    {
        if (const auto entry = steps_.before(thread, bytes, walk_.live_bytes())) {
            sequences_[thread].put({.action = ExtendedAction::enter, .from_cell = entry->leaves, .size = entry->step});
        }
    }

    // The thread that replays a recorded one, which is started where it is first seen.
    ThreadIndex thread_of(std::uint32_t life)
    {
        if (life >= threads_.size()) {
            threads_.resize(std::size_t{life} + 1, no_thread);
        }
        if (threads_[life] == no_thread) {
            const ThreadIndex number = seen_++;
            threads_[life] = options_.threads == 0 ? number : number % options_.threads;
            if (threads_[life] == sequences_.size()) {
                start(threads_[life], options_.threads == 0 ? survey_.ends[life] : ReplaySurvey::never);
            }
        }
        return threads_[life];
    }

    // By the first thread, which joins those before that have ended. It is there to the end itself.
    void start(ThreadIndex thread, std::uint64_t end)
    {
        sequences_.emplace_back();
        if (thread != 0) {
            enter(0, 0);
            for (; !ends_.empty() && ends_.top().first < now_; ends_.pop()) {
                sequences_.front().put({.action = ExtendedAction::join, .to = ends_.top().second});
                --threads_now_;
            }
            sequences_.front().put({.action = ExtendedAction::spawn, .to = thread});
        }
        if (thread != 0 && end != ReplaySurvey::never) {
            sequences_.back().ends = true;
            ends_.emplace(end, thread);
        }
        most_threads_ = std::max(most_threads_, ++threads_now_);
    }

    // A thread is there until the step that it ended in, also where it had nothing to do any more: what its allocator
    // keeps for it is nobody else's until then. One that ended before is joined, and nothing more can be asked of it.
    void end_thread()
    {
        if (life_ < threads_.size() && threads_[life_] != no_thread && now_ <= survey_.ends[life_]) {
            enter(threads_[life_], 0);
        }
    }

    // What ended processes held is freed before anything else happens; where nothing does, it is live at the last
    // event.
    void end_processes()
    {
        for (const auto& [process, life] : std::exchange(ending_, {})) {
            const ThreadIndex thread = thread_of(life);
            enter(thread, 0);
            walk_.end_process(process, [&](const LiveBlock& block) {
                release(thread, block.tag);
                steps_.freed(thread, block.size);
            });
        }
    }

    void change_blocks(ThreadIndex thread, const Event& event)
    {
        const BlockWalk::Change change = walk_.add(event);
        totals_.left_out += change.frees_unknown ? 1U : 0U;
        impossible_event_ = change.overflows && impossible_event_ == 0 ? events_ : impossible_event_;
        if (change.replaced) {
            release(thread, change.replaced->tag);
        }
        for (const auto* gone : {&change.replaced, &change.freed}) {
            if (*gone) {
                steps_.freed(thread, (*gone)->size);
            }
        }
        if (change.made) {
            steps_.made(thread, change.made->size);
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
        const std::uint32_t cell = cells_.take(block.owner, thread, block.made_at, now_);
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

    using End = std::pair<std::uint64_t, ThreadIndex>;
    static constexpr ThreadIndex no_thread = ~ThreadIndex{0};

    ReplayCompileOptions options_;
    const ReplaySurvey& survey_;
    ReplaySteps steps_;
    double ns_per_tick_;
    std::vector<ReplaySequence> sequences_;
    ReplayCells cells_;
    ThreadLives lives_;
    std::vector<ThreadIndex> threads_;                                 // by life
    ThreadIndex seen_{};                                               // lives that have a thread
    std::priority_queue<End, std::vector<End>, std::greater<>> ends_;  // ends of threads that are not joined yet
    std::uint64_t threads_now_{};
    std::uint64_t most_threads_{};
    std::uint32_t life_{};  // the life of the event's thread
    // Processes that have ended, and the lives that end them, until anything else happens.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> ending_;
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
    SelectedEvents events{reader, options.selection};
    const ReplaySurvey surveyed = survey(events, options.selection.is_cut);
    ReplayCompiler compiler{options, surveyed, reader.header().ticks_per_second};
    Event event;
    while (events.next(event)) {
        compiler.add(event);
    }
    return compiler.finish();
}

}  // namespace memsweep::trace
