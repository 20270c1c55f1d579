// Events to packed operations. A block's slot is chosen when it is allocated; that it will go to another thread shows
// only when that thread uses it, and then the operation that made it is rewritten to give it away.
#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/trace/live_blocks.hpp"
#include "core/trace/replay/replay_layout.hpp"

namespace memsweep::trace {
namespace {

using ThreadIndex = std::uint32_t;
using RecordedThread = std::pair<std::uint32_t, std::uint32_t>;  // process, thread

// A cell is used again only after so many others of its pair: giver and taker then work on different cache lines.
constexpr std::size_t resting_cells = 256;
constexpr std::size_t most_threads = 1024;
constexpr std::uint64_t largest_alignment = 1U << 30U;

struct Block {
    std::uint64_t size{};
    std::uint64_t made_by{};  // operation of the owner
    std::uint64_t made_at{};  // event of the trace
    ThreadIndex owner{};
    std::uint32_t slot{};
    std::uint32_t alignment{plain_alignment};
};

struct Sequence {
    std::vector<std::uint64_t> ops;
    std::vector<ExtendedOp> extended;
    std::vector<std::uint32_t> unused;  // slots
    std::uint32_t slots{};
    std::uint64_t body{};
    std::uint64_t events{};
    std::uint64_t last_ticks{};

    std::uint32_t take_slot()
    {
        if (unused.empty()) {
            return slots++;
        }
        const std::uint32_t slot = unused.back();
        unused.pop_back();
        return slot;
    }
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
};

bool is_plain(std::uint64_t size, std::uint32_t alignment)
{
    return size <= UINT32_MAX && alignment <= plain_alignment;
}

class ReplayCompiler {
  public:
    ReplayCompiler(const ReplayCompileOptions& options, std::uint64_t ticks_per_second)
        : options_{options}, ns_per_tick_{1e9 / static_cast<double>(std::max<std::uint64_t>(ticks_per_second, 1))}
    {
    }

    void add(const Event& event)
    {
        ++now_;
        switch (event.kind) {
        case EventKind::malloc:
        case EventKind::calloc:
        case EventKind::aligned_alloc:
            allocate(begin(event), event);
            break;
        case EventKind::realloc:
            resize(begin(event), event);
            break;
        case EventKind::free:
            release_at(begin(event), event, event.address);
            break;
        case EventKind::copy:
        case EventKind::move:
            transfer(begin(event), event);
            break;
        case EventKind::thread_start:
            start(begin(event), {event.process, event.other});
            break;
        case EventKind::fork:
            start_process(begin(event), event.other);
            break;
        case EventKind::exec:
        case EventKind::process_exit:
            abandon(begin(event), event.process);
            break;
        default:
            break;
        }
    }

    base::Expected<std::vector<std::uint64_t>> finish()
    {
        for (Sequence& sequence : sequences_) {
            sequence.body = sequence.ops.size();
        }
        totals_.end_live_bytes = live_bytes_;
        live_.for_each([this](const BlockKey&, const LiveBlock& live) {
            const Block& block = blocks_[live.tag];
            put_release(sequences_[block.owner], block, block.slot, false);
        });
        totals_.recorded_threads = threads_.size();
        totals_.duration_ns = to_ns(last_ticks_);
        std::uint64_t slots = cells_;
        for (const Sequence& sequence : sequences_) {
            totals_.events += sequence.events;
            slots = std::max<std::uint64_t>(slots, sequence.slots);
        }
        if (sequences_.size() > most_threads) {
            return base::fail(base::ErrorCode::invalid_input,
                              fmt::format("the trace has {} threads, and a replay at most {}: --threads deals them out",
                                          sequences_.size(), most_threads));
        }
        if (slots >= most_slots) {
            return base::fail(base::ErrorCode::invalid_input,
                              fmt::format("{} blocks are live at once; a replay has place for {}", slots, most_slots));
        }
        return lay_out();
    }

  private:
    // The thread that replays it, which begins with a wait for whoever started it.
    ThreadIndex begin(const Event& event)
    {
        const RecordedThread recorded{event.process, event.thread};
        if (!has_last_ || recorded != last_recorded_) {
            last_thread_ = find_thread(recorded);
            last_recorded_ = recorded;
            has_last_ = true;
        }
        Sequence& sequence = sequences_[last_thread_];
        if (!has_first_ticks_) {
            first_ticks_ = event.ticks;
            has_first_ticks_ = true;
        }
        last_ticks_ = std::max(last_ticks_, event.ticks);
        if (options_.paced && event.ticks > sequence.last_ticks) {
            sequence.last_ticks = event.ticks;
            sequence.put({.action = ExtendedAction::pace, .size = to_ns(event.ticks)});
        }
        return last_thread_;
    }

    ThreadIndex find_thread(const RecordedThread& recorded)
    {
        const auto found = threads_.find(recorded);
        if (found != threads_.end()) {
            return found->second;
        }
        const auto number = static_cast<std::uint32_t>(threads_.size());
        const ThreadIndex thread = options_.threads == 0 ? number : number % options_.threads;
        threads_.emplace(recorded, thread);
        if (thread >= sequences_.size()) {
            sequences_.resize(std::size_t{thread} + 1);
        }
        await_start(recorded, thread);
        return thread;
    }

    void await_start(const RecordedThread& recorded, ThreadIndex thread)
    {
        for (auto* starts : {&thread_starts_, &process_starts_}) {
            const RecordedThread key = starts == &thread_starts_ ? recorded : RecordedThread{recorded.first, 0};
            const auto found = starts->find(key);
            if (found == starts->end()) {
                continue;
            }
            const auto [starter, op] = found->second;
            starts->erase(found);
            if (starter != thread) {
                const std::uint32_t cell = cells_++;
                ExtendedOp& signal = extended_of(sequences_[starter], op);
                signal = {.action = ExtendedAction::signal, .to_cell = true, .to = cell};
                sequences_[thread].put({.action = ExtendedAction::await, .from_cell = true, .slot = cell});
            }
        }
    }

    // A place for the signal, should the thread turn out to be replayed by another one.
    void start(ThreadIndex thread, const RecordedThread& started)
    {
        thread_starts_[started] = place_for_signal(thread);
    }
    void start_process(ThreadIndex thread, std::uint32_t process)
    {
        process_starts_[{process, 0}] = place_for_signal(thread);
    }
    std::pair<ThreadIndex, std::uint64_t> place_for_signal(ThreadIndex thread)
    {
        Sequence& sequence = sequences_[thread];
        sequence.put({.action = ExtendedAction::pace});  // of time 0: nothing
        return {thread, sequence.ops.size() - 1};
    }

    void allocate(ThreadIndex thread, const Event& event)
    {
        const auto alignment =
            event.kind == EventKind::aligned_alloc && event.alignment > plain_alignment
                ? std::bit_ceil(static_cast<std::uint32_t>(std::min(event.alignment, largest_alignment)))
                : plain_alignment;
        Sequence& sequence = sequences_[thread];
        ++sequence.events;
        ++totals_.allocations;
        replace_at(thread, event);
        Block block{.size = event.size, .owner = thread, .slot = sequence.take_slot(), .alignment = alignment};
        const bool zeroed = event.kind == EventKind::calloc;
        if (is_plain(event.size, alignment)) {
            sequence.put(zeroed ? ReplayOp::zeroed : ReplayOp::allocate, block.slot, event.size);
        } else {
            sequence.put({.action = zeroed ? ExtendedAction::zeroed : ExtendedAction::allocate,
                          .to = block.slot,
                          .alignment = alignment,
                          .size = event.size});
        }
        insert(thread, event, block);
    }

    // What is at that place still, as lost events leave it, goes first.
    void replace_at(ThreadIndex thread, const Event& event)
    {
        if (const auto replaced = live_.remove(key_of(event, event.address))) {
            release(thread, replaced->tag);
        }
    }

    void insert(ThreadIndex thread, const Event& event, Block block)
    {
        mark_made(thread, block);
        live_bytes_ += block.size;
        totals_.bytes_allocated += block.size;
        totals_.peak_live_bytes = std::max(totals_.peak_live_bytes, live_bytes_);
        std::uint32_t tag{};
        if (free_tags_.empty()) {
            tag = static_cast<std::uint32_t>(blocks_.size());
            blocks_.push_back(block);
        } else {
            tag = free_tags_.back();
            free_tags_.pop_back();
            blocks_[tag] = block;
        }
        static_cast<void>(live_.insert(key_of(event, event.address), {block.size, tag}));
    }

    void resize(ThreadIndex thread, const Event& event)
    {
        const auto old = live_.remove(key_of(event, event.old_address));
        if (!old) {
            totals_.left_out += event.old_address != 0 ? 1 : 0;
            if (event.address != 0) {
                allocate(thread, event);
            }
            return;
        }
        if (event.address == 0) {
            ++sequences_[thread].events;
            ++totals_.frees;
            release(thread, old->tag);
            return;
        }
        replace_at(thread, event);
        Sequence& sequence = sequences_[thread];
        ++sequence.events;
        ++totals_.allocations;
        ++totals_.frees;
        const Block was = blocks_[old->tag];
        const Source source = use(thread, old->tag);
        drop(old->tag);
        const std::uint32_t to = source.is_cell ? sequence.take_slot() : source.slot;
        sequence.put({.action = ExtendedAction::resize,
                      .from_cell = source.is_cell,
                      .slot = source.slot,
                      .to = to,
                      .alignment = plain_alignment,
                      .old_alignment = was.alignment,
                      .size = event.size,
                      .old_size = was.size});
        insert(thread, event, {.size = event.size, .owner = thread, .slot = to});
    }

    void release_at(ThreadIndex thread, const Event& event, std::uint64_t address)
    {
        const auto block = live_.remove(key_of(event, address));
        if (!block) {
            totals_.left_out += address != 0 ? 1 : 0;
            return;
        }
        ++sequences_[thread].events;
        ++totals_.frees;
        release(thread, block->tag);
    }

    void release(ThreadIndex thread, std::uint32_t tag)
    {
        Sequence& sequence = sequences_[thread];
        const Block block = blocks_[tag];
        const Source source = use(thread, tag);
        drop(tag);
        put_release(sequence, block, source.slot, source.is_cell);
        if (!source.is_cell) {
            sequence.unused.push_back(source.slot);
        }
    }

    static void put_release(Sequence& sequence, const Block& block, std::uint32_t slot, bool is_cell)
    {
        if (is_plain(block.size, block.alignment)) {
            sequence.put(is_cell ? ReplayOp::take : ReplayOp::release, slot, block.size);
        } else {
            sequence.put({.action = ExtendedAction::release,
                          .from_cell = is_cell,
                          .slot = slot,
                          .old_alignment = block.alignment,
                          .old_size = block.size});
        }
    }

    void transfer(ThreadIndex thread, const Event& event)
    {
        const LiveBlock* from = live_.find({event.old_address, event.process, event.source_space});
        const LiveBlock* to = live_.find(key_of(event, event.address));
        if (from == nullptr || to == nullptr || from->tag == to->tag) {
            ++totals_.left_out;
            return;
        }
        Sequence& sequence = sequences_[thread];
        ++sequence.events;
        ++totals_.transfers;
        own(thread, from->tag);
        own(thread, to->tag);
        const Block& source = blocks_[from->tag];
        const Block& target = blocks_[to->tag];
        const std::uint64_t most = std::min(source.size, target.size);
        sequence.put({.action = ExtendedAction::copy,
                      .slot = source.slot,
                      .to = target.slot,
                      .size = event.size == 0 ? most : std::min(event.size, most)});
        // From here on another thread may have them: each needs an operation that can be rewritten to give it away.
        renew(thread, from->tag);
        renew(thread, to->tag);
    }

    void own(ThreadIndex thread, std::uint32_t tag)
    {
        Block& block = blocks_[tag];
        if (block.owner == thread) {
            return;
        }
        const Source source = use(thread, tag);
        block.owner = thread;
        block.slot = sequences_[thread].take_slot();
        sequences_[thread].put({.action = ExtendedAction::pass,
                                .from_cell = true,
                                .slot = source.slot,
                                .to = block.slot,
                                .size = block.size});
        mark_made(thread, block);
    }

    void mark_made(ThreadIndex thread, Block& block) const
    {
        block.made_by = sequences_[thread].ops.size() - 1;
        block.made_at = now_;
    }

    void renew(ThreadIndex thread, std::uint32_t tag)
    {
        if (sequences_.size() > 1 || options_.threads != 1) {
            Block& block = blocks_[tag];
            sequences_[thread].put({.action = ExtendedAction::pass, .slot = block.slot, .to = block.slot});
            mark_made(thread, block);
        }
    }

    void abandon(ThreadIndex thread, std::uint32_t process)
    {
        live_.remove_process(process, [&](const BlockKey&, const LiveBlock& block) { release(thread, block.tag); });
    }

    struct UsedCell {
        std::uint32_t cell{};
        std::uint64_t emptied_at{};
    };
    struct Source {
        std::uint32_t slot{};
        bool is_cell{};
    };

    // Where the thread finds the block. What another thread made it is made to give away.
    Source use(ThreadIndex thread, std::uint32_t tag)
    {
        const Block& block = blocks_[tag];
        if (block.owner == thread) {
            return {block.slot, false};
        }
        ++totals_.handed_over;
        const std::uint32_t cell = take_cell(block.owner, thread, block.made_at);
        give_away(sequences_[block.owner], block.made_by, cell);
        sequences_[block.owner].unused.push_back(block.slot);
        return {cell, true};
    }

    static void give_away(Sequence& sequence, std::uint64_t op, std::uint32_t cell)
    {
        std::uint64_t& word = sequence.ops[op];
        const auto kind = static_cast<ReplayOp>(word & 0xFU);
        const auto size = static_cast<std::uint32_t>(word >> 32U);
        if (kind == ReplayOp::extended || kind == ReplayOp::resize) {
            word = packed(ReplayOp::extended, 0, size);
            sequence.extended[size].to_cell = true;
            sequence.extended[size].to = cell;
        } else {
            word = packed(kind == ReplayOp::zeroed ? ReplayOp::give_zeroed : ReplayOp::give, cell, size);
        }
    }

    static ExtendedOp& extended_of(Sequence& sequence, std::uint64_t op)
    {
        return sequence.extended[static_cast<std::uint32_t>(sequence.ops[op] >> 32U)];
    }

    // Of this pair alone, and of one that was emptied before the block was made: so giver and taker see its uses in one
    // order, and the giver never waits for what comes later.
    std::uint32_t take_cell(ThreadIndex giver, ThreadIndex taker, std::uint64_t made_at)
    {
        std::deque<UsedCell>& cells = pair_cells_[{giver, taker}];
        std::uint32_t cell = cells_;
        if (cells.size() >= resting_cells && cells.front().emptied_at < made_at) {
            cell = cells.front().cell;
            cells.pop_front();
        } else {
            ++cells_;
        }
        cells.push_back({cell, now_});
        return cell;
    }

    void drop(std::uint32_t tag)
    {
        live_bytes_ -= blocks_[tag].size;
        free_tags_.push_back(tag);
    }

    static BlockKey key_of(const Event& event, std::uint64_t address) { return {address, event.process, event.space}; }

    [[nodiscard]] std::uint64_t to_ns(std::uint64_t ticks) const
    {
        return ticks <= first_ticks_
                   ? 0
                   : static_cast<std::uint64_t>(static_cast<double>(ticks - first_ticks_) * ns_per_tick_);
    }

    [[nodiscard]] std::vector<std::uint64_t> lay_out() const
    {
        ReplayHeader header{.magic = replay_magic,
                            .threads = sequences_.size(),
                            .cells = cells_,
                            .first_thread = words_of<ReplayHeader>,
                            .totals = totals_};
        std::vector<ReplayThread> threads;
        std::uint64_t at = header.first_thread + sequences_.size() * words_of<ReplayThread>;
        for (const Sequence& sequence : sequences_) {
            ReplayThread thread{.first_op = at,
                                .ops = sequence.ops.size(),
                                .first_extended = at + sequence.ops.size(),
                                .extended = sequence.extended.size(),
                                .body = sequence.body,
                                .events = sequence.events,
                                .slots = sequence.slots};
            at = thread.first_extended + thread.extended * words_of<ExtendedOp>;
            threads.push_back(thread);
        }
        header.words = at;
        std::vector<std::uint64_t> words(at);
        const auto put = [&](std::uint64_t first, const auto& records) {
            if (!records.empty()) {
                std::memcpy(words.data() + first, records.data(), records.size() * sizeof(records.front()));
            }
        };
        std::memcpy(words.data(), &header, sizeof header);
        put(header.first_thread, threads);
        for (std::size_t i = 0; i < sequences_.size(); ++i) {
            put(threads[i].first_op, sequences_[i].ops);
            put(threads[i].first_extended, sequences_[i].extended);
        }
        return words;
    }

    ReplayCompileOptions options_;
    double ns_per_tick_;
    std::vector<Sequence> sequences_;
    std::map<RecordedThread, ThreadIndex> threads_;
    std::map<RecordedThread, std::pair<ThreadIndex, std::uint64_t>> thread_starts_;
    std::map<RecordedThread, std::pair<ThreadIndex, std::uint64_t>> process_starts_;
    std::map<std::pair<ThreadIndex, ThreadIndex>, std::deque<UsedCell>> pair_cells_;
    LiveBlocks live_;
    std::vector<Block> blocks_;
    std::vector<std::uint32_t> free_tags_;
    ReplayTotals totals_;
    std::uint64_t live_bytes_{};
    std::uint64_t now_{};
    std::uint32_t cells_{};
    RecordedThread last_recorded_{};
    ThreadIndex last_thread_{};
    bool has_last_{};
    bool has_first_ticks_{};
    std::uint64_t first_ticks_{};
    std::uint64_t last_ticks_{};
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
