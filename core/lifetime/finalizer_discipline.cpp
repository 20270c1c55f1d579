#include "core/lifetime/finalizer_discipline.hpp"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <thread>

#include <sys/resource.h>
#include <unistd.h>

#include "core/base/assert.hpp"
#include "core/memory/clock.hpp"

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

bool ReserveCap::try_reserve(std::uint64_t bytes) noexcept
{
    if (spec_.bytes == 0) {
        return true;
    }
    std::uint64_t reserved = reserved_.load(relaxed);
    do {
        if (bytes > spec_.bytes - reserved) {
            return false;
        }
    } while (!reserved_.compare_exchange_weak(reserved, reserved + bytes, relaxed));
    return true;
}

void ReserveCap::sleep(std::uint32_t number) noexcept
{
    const std::int64_t before = steady_ns();
    std::this_thread::sleep_for(std::chrono::nanoseconds{static_cast<std::int64_t>(spec_.first_sleep_ns << number)});
    sleeps_.fetch_add(1, relaxed);
    slept_ns_.fetch_add(static_cast<std::uint64_t>(steady_ns() - before), relaxed);
}

void ReserveCap::reset_counts() noexcept
{
    sleeps_.store(0, relaxed);
    slept_ns_.store(0, relaxed);
}

FinalizerDiscipline::FinalizerDiscipline(const model::ReleaseSpec& spec, bool shadowed, Reclaimer& reclaimer)
    : Discipline{reclaimer}, spec_{spec}, collector_{spec, shadowed}, cap_{spec.cap}, queue_{spec.finalizer_threads}
{
    MEMSWEEP_ASSERT(spec.finalizer_threads != 0, "without a finalizer thread nothing would ever be freed");
    start_threads();
}

void FinalizerDiscipline::start_threads()
{
    threads_.reserve(spec_.finalizer_threads);
    try {
        for (std::size_t consumer = 0; consumer < spec_.finalizer_threads; ++consumer) {
            threads_.emplace_back([this, consumer] { finalize(consumer); });
        }
        if (spec_.gc_duration_ns != 0) {
            background_ = std::thread{[this] { find_beside_the_program(); }};
        }
    } catch (const std::system_error&) {
        MEMSWEEP_ASSERT(false, "the kernel refused a finalizer thread");
    }
}

FinalizerDiscipline::~FinalizerDiscipline()
{
    {
        const std::lock_guard lock{background_mutex_};
        background_stopped_ = true;
    }
    background_changed_.notify_all();
    if (background_.joinable()) {
        background_.join();
    }
    queue_.stop();
    for (std::thread& thread : threads_) {
        thread.join();
    }
    static_cast<void>(queue_.append_all(pending_));
    for (Block* block = queue_.take_rest(); block != nullptr;) {
        Block* const next = block->next;
        reclaim(*block);
        block = next;
    }
}

void FinalizerDiscipline::finalize(std::size_t consumer) noexcept
{
    if (spec_.finalizer_nice != 0) {
        ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), static_cast<int>(spec_.finalizer_nice));
    }
    while (Block* const block = queue_.finish_and_take(consumer)) {
        spin_for(spec_.release_cost_ns * spec_.finalizer_objects);
        if (!resurrects(*block)) {
            reclaim(*block);
        }
    }
}

// A finalizer that stores its object keeps it alive; a later collection finds it again.
bool FinalizerDiscipline::resurrects(Block& block) noexcept
{
    if (spec_.resurrect_every == 0 || block.resurrected) {
        return false;
    }
    block.resurrected = finalized_.fetch_add(1, relaxed) % spec_.resurrect_every == 0;
    if (block.resurrected) {
        block.watched.store(true, relaxed);
        pending_.push(block);
    }
    return block.resurrected;
}

void FinalizerDiscipline::reclaim(Block& block) noexcept
{
    const std::uint64_t bytes = free_floating(block, floating_);
    unreserve(bytes);
    collector_.freed(bytes);
}

void FinalizerDiscipline::unreserve(std::uint64_t bytes) noexcept
{
    if (spec_.cap.bytes != 0) {
        cap_.unreserve(bytes);
    }
}

void FinalizerDiscipline::unreachable(Block& block) noexcept
{
    const std::uint64_t bytes = block.bytes;
    floating_.add(block);
    pending_.push(block);
    collector_.dropped(bytes);
}

void FinalizerDiscipline::freed_early(std::uint64_t bytes) noexcept
{
    unreserve(bytes);
    collector_.freed_early(bytes);
}

memory::AllocStatus FinalizerDiscipline::before_allocate(std::uint64_t bytes) noexcept
{
    registered_.fetch_add(spec_.finalizer_objects, relaxed);
    const bool reserved = cap_.reserve(
        bytes, [this] { return queue_.wait_for_progress(); }, [this] { find(true); });
    if (!reserved) {
        return memory::AllocStatus::over_limit;
    }
    const Due due = collector_.before_allocate(bytes);
    if (due == Due::background && spec_.gc_duration_ns != 0) {
        request_background();
    } else if (due != Due::no) {
        find(false);
    }
    if (due != Due::no && spec_.gated) {
        drain();
    }
    return memory::AllocStatus::ok;
}

void FinalizerDiscipline::find(bool asked_for) noexcept
{
    const std::int64_t began = collector_.begin_pause();
    const std::uint64_t found = queue_.append_all(pending_);
    collector_.finish({began, steady_ns(), found, asked_for}, true);
}

void FinalizerDiscipline::request_background() noexcept
{
    {
        const std::lock_guard lock{background_mutex_};
        background_wanted_ = background_wanted_ || !background_busy_;
    }
    background_changed_.notify_all();
}

// What becomes unreachable while it runs is the next collection's.
void FinalizerDiscipline::find_beside_the_program() noexcept
{
    std::unique_lock lock{background_mutex_};
    for (;;) {
        background_changed_.wait(lock, [this] { return background_wanted_ || background_stopped_; });
        if (background_stopped_) {
            return;
        }
        background_wanted_ = false;
        background_busy_ = true;
        lock.unlock();
        const std::int64_t began = steady_ns();
        PendingList found;
        found.push_all(pending_.take_all());
        std::this_thread::sleep_for(std::chrono::nanoseconds{static_cast<std::int64_t>(spec_.gc_duration_ns)});
        const std::uint64_t bytes = queue_.append_all(found);
        collector_.finish({began, steady_ns(), bytes, false}, false);
        lock.lock();
        background_busy_ = false;
        background_changed_.notify_all();
    }
}

// A collection that runs beside the program has been found by nobody yet: it is waited for too.
void FinalizerDiscipline::drain() noexcept
{
    {
        std::unique_lock lock{background_mutex_};
        background_changed_.wait(lock, [this] { return !background_wanted_ && !background_busy_; });
    }
    queue_.drain();
}

DisciplineStats FinalizerDiscipline::stats() const noexcept
{
    DisciplineStats stats;
    collector_.add_to(stats);
    floating_.add_to(stats);
    stats.queue_depth = queue_.depth();
    stats.queue_depth_peak = queue_.depth_peak();
    stats.stalls = cap_.sleeps();
    stats.stall_ns = cap_.slept_ns();
    stats.finalizers_registered = registered_.load(relaxed);
    return stats;
}

void FinalizerDiscipline::reset_counts() noexcept
{
    collector_.reset_counts();
    cap_.reset_counts();
    floating_.reset();
    queue_.reset_peak();
    registered_.store(0, relaxed);
}

}  // namespace memsweep::lifetime
