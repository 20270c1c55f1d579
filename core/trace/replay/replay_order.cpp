#include "core/trace/replay/replay_order.hpp"

namespace memsweep::trace {
namespace {

// A cell is used again only after so many others of its pair: giver and taker then work on different cache lines.
constexpr std::size_t resting_cells = 256;

}  // namespace

ThreadIndex ReplayOrder::thread_of(const RecordedThread& recorded)
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

void ReplayOrder::await_start(Starts& starts, const RecordedThread& started, ThreadIndex thread)
{
    const auto found = starts.find(started);
    if (found == starts.end()) {
        return;
    }
    const auto [starter, op] = found->second;
    starts.erase(found);
    if (starter != thread) {
        const std::uint32_t cell = cells_++;
        (*sequences_)[starter].extended_of(op) = {.action = ExtendedAction::signal, .to_cell = true, .to = cell};
        (*sequences_)[thread].put({.action = ExtendedAction::await, .from_cell = true, .slot = cell});
    }
}

void ReplayOrder::start_thread(ThreadIndex starter, const RecordedThread& started)
{
    thread_starts_[started] = place_for_signal(starter);
}

void ReplayOrder::start_process(ThreadIndex starter, std::uint32_t process)
{
    process_starts_[{process, 0}] = place_for_signal(starter);
}

// Becomes a signal if another thread turns out to replay what is started.
ReplayOrder::Start ReplayOrder::place_for_signal(ThreadIndex thread)
{
    ReplaySequence& sequence = (*sequences_)[thread];
    sequence.put({.action = ExtendedAction::pace});  // until time 0: no wait
    return {thread, sequence.last_op()};
}

// The cell belongs to this pair alone, and was emptied before the block was made: giver and taker then see its uses in
// the same order, and the giver never waits for what comes later.
std::uint32_t ReplayOrder::take_cell(ThreadIndex giver, ThreadIndex taker, std::uint64_t made_at, std::uint64_t now)
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

}  // namespace memsweep::trace
