#include "core/lifetime/finalizer_queue.hpp"

#include <algorithm>

namespace memsweep::lifetime {

std::uint64_t FinalizerQueue::append_all(PendingList& pending) noexcept
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

Block* FinalizerQueue::finish_and_take(std::size_t consumer) noexcept
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

void FinalizerQueue::finish(std::size_t consumer) noexcept
{
    if (in_progress_[consumer] == 0) {
        return;
    }
    in_progress_[consumer] = 0;
    ++finished_;
    if (watching_progress_ != 0) {
        progressed_.notify_all();
    }
    // Draining threads are woken once what they wait for is done, not at every block on the way.
    if (done_through() >= next_awaited_) {
        next_awaited_ = nobody_waits;
        drained_.notify_all();
    }
}

// The highest number such that it and all before it are done with: with several consumers a later block may be done
// before an earlier one, so a mere count would not do.
std::uint64_t FinalizerQueue::done_through() const noexcept
{
    std::uint64_t through = taken_;
    for (const std::uint64_t number : in_progress_) {
        through = number == 0 ? through : std::min(through, number - 1);
    }
    return through;
}

void FinalizerQueue::drain() noexcept
{
    std::unique_lock lock{mutex_};
    const std::uint64_t awaited = appended_;
    while (done_through() < awaited) {
        next_awaited_ = std::min(next_awaited_, awaited);
        drained_.wait(lock);
    }
}

bool FinalizerQueue::wait_for_progress() noexcept
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

void FinalizerQueue::stop() noexcept
{
    {
        const std::lock_guard lock{mutex_};
        stopped_ = true;
    }
    work_.notify_all();
    progressed_.notify_all();
}

Block* FinalizerQueue::take_rest() noexcept
{
    const std::lock_guard lock{mutex_};
    Block* const rest = first_;
    first_ = nullptr;
    last_ = nullptr;
    return rest;
}

std::uint64_t FinalizerQueue::depth() const noexcept
{
    const std::lock_guard lock{mutex_};
    return appended_ - finished_;
}

std::uint64_t FinalizerQueue::depth_peak() const noexcept
{
    const std::lock_guard lock{mutex_};
    return depth_peak_;
}

void FinalizerQueue::reset_peak() noexcept
{
    const std::lock_guard lock{mutex_};
    depth_peak_ = appended_ - finished_;
}

}  // namespace memsweep::lifetime
