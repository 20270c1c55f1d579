// The queue of blocks that a collection has found and that wait for a finalizer thread. .NET calls it the f-reachable
// queue.
//
// Cost     a lock per block taken; a collection locks once for all blocks that it found.
// Memory   none per block: blocks are linked by their `next`.
// Threads  any number of threads may collect and drain. Each finalizer thread (consumer) has a number, from 0, that no
//          other consumer has.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <vector>

#include "core/lifetime/floating.hpp"

namespace memsweep::lifetime {

class FinalizerQueue {
  public:
    explicit FinalizerQueue(std::size_t consumers) : in_progress_(consumers, 0) {}

    // Appends all pending blocks, oldest first, and wakes the consumers. Returns the bytes appended.
    std::uint64_t append_all(PendingList& pending) noexcept
    {
        std::uint64_t bytes = 0;
        {
            // Taken under the lock, so that two collections cannot append in the wrong order.
            const std::lock_guard lock{mutex_};
            Block* const oldest = pending.take_all();
            if (oldest == nullptr) {
                return 0;
            }
            (last_ == nullptr ? first_ : last_->next) = oldest;
            for (Block* block = oldest; block != nullptr; block = block->next) {
                last_ = block;
                ++appended_;
                bytes += block->bytes;
            }
            depth_peak_ = std::max(depth_peak_, appended_ - finished_);
        }
        work_.notify_all();
        return bytes;
    }

    // Marks the block that this consumer took last as finished, then waits for the next block. nullptr: the queue was
    // stopped.
    [[nodiscard]] Block* finish_and_take(std::size_t consumer) noexcept
    {
        std::unique_lock lock{mutex_};
        finish(consumer);
        work_.wait(lock, [this] { return stopped_ || first_ != nullptr; });
        if (stopped_) {
            return nullptr;
        }
        Block* const block = first_;
        first_ = block->next;
        last_ = first_ == nullptr ? nullptr : last_;
        in_progress_[consumer] = ++taken_;
        return block;
    }

    // Waits until every block appended before the call is finished.
    void drain() noexcept
    {
        std::unique_lock lock{mutex_};
        const std::uint64_t awaited = appended_;
        while (done_through() < awaited) {
            next_awaited_ = std::min(next_awaited_, awaited);
            drained_.wait(lock);
        }
    }

    // Waits until one more block is finished, or the queue is stopped. Returns false, without a wait, if all blocks are
    // finished already.
    [[nodiscard]] bool wait_for_progress() noexcept
    {
        std::unique_lock lock{mutex_};
        if (appended_ == finished_) {
            return false;
        }
        ++watching_progress_;
        progressed_.wait(lock, [this, before = finished_] { return finished_ != before || stopped_; });
        --watching_progress_;
        return true;
    }

    // After this call, consumers get no blocks. The caller must then call take_rest(), which returns the remaining
    // blocks, linked by `next`; nullptr: there are none.
    void stop() noexcept
    {
        {
            const std::lock_guard lock{mutex_};
            stopped_ = true;
        }
        work_.notify_all();
        progressed_.notify_all();
    }

    [[nodiscard]] Block* take_rest() noexcept
    {
        const std::lock_guard lock{mutex_};
        Block* const rest = first_;
        first_ = nullptr;
        last_ = nullptr;
        return rest;
    }

    // The number of blocks that were appended and are not finished.
    [[nodiscard]] std::uint64_t depth() const noexcept
    {
        const std::lock_guard lock{mutex_};
        return appended_ - finished_;
    }

    [[nodiscard]] std::uint64_t depth_peak() const noexcept
    {
        const std::lock_guard lock{mutex_};
        return depth_peak_;
    }

    void reset_peak() noexcept
    {
        const std::lock_guard lock{mutex_};
        depth_peak_ = appended_ - finished_;
    }

  private:
    void finish(std::size_t consumer) noexcept
    {
        if (in_progress_[consumer] == 0) {
            return;
        }
        in_progress_[consumer] = 0;
        ++finished_;
        if (watching_progress_ != 0) {
            progressed_.notify_all();
        }
        // Wakes draining threads only when the block that they wait for is finished, not at every earlier block.
        if (done_through() >= next_awaited_) {
            next_awaited_ = nobody_waits;
            drained_.notify_all();
        }
    }

    // The highest n for which the blocks 1 to n are all finished. With several consumers a later block may be finished
    // before an earlier one, so counting finished blocks is not enough.
    [[nodiscard]] std::uint64_t done_through() const noexcept
    {
        std::uint64_t through = taken_;
        for (const std::uint64_t number : in_progress_) {
            through = number == 0 ? through : std::min(through, number - 1);
        }
        return through;
    }

    static constexpr std::uint64_t nobody_waits = std::numeric_limits<std::uint64_t>::max();

    mutable std::mutex mutex_;  // guards all members below
    std::condition_variable work_;
    std::condition_variable drained_;
    std::condition_variable progressed_;
    Block* first_{};
    Block* last_{};
    std::uint64_t appended_{};  // blocks are numbered from 1 in the order in which they are appended and taken
    std::uint64_t taken_{};
    std::uint64_t finished_{};
    std::uint64_t depth_peak_{};
    std::vector<std::uint64_t> in_progress_;    // per consumer: the number of its block, 0 for none
    std::uint64_t next_awaited_{nobody_waits};  // the lowest number that a draining thread waits for
    std::uint32_t watching_progress_{};         // threads that wait until any block is finished
    bool stopped_{};
};

}  // namespace memsweep::lifetime
