#include "core/lifetime/finalizer_discipline.hpp"

#include <chrono>
#include <system_error>

#include "core/base/assert.hpp"

namespace memsweep::lifetime {
namespace {

void spin_for(std::uint64_t duration_ns)
{
    using Clock = std::chrono::steady_clock;
    const Clock::time_point end = Clock::now() + std::chrono::nanoseconds{static_cast<std::int64_t>(duration_ns)};
    while (Clock::now() < end) {
    }
}

}  // namespace

FinalizerDiscipline::FinalizerDiscipline(const model::ReleaseSpec& spec, Reclaimer& reclaimer)
    : spec_{spec}, reclaimer_{reclaimer}, queue_{spec.finalizer_threads}
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
    } catch (const std::system_error&) {
        MEMSWEEP_ASSERT(threads_.size() == spec_.finalizer_threads, "the kernel refused a finalizer thread");
    }
}

FinalizerDiscipline::~FinalizerDiscipline()
{
    queue_.stop();
    for (std::thread& thread : threads_) {
        thread.join();
    }
    queue_.append_all(pending_);
    for (Block* block = queue_.take_rest(); block != nullptr;) {
        Block* const next = block->next;
        free(*block);
        block = next;
    }
}

void FinalizerDiscipline::finalize(std::size_t consumer) noexcept
{
    while (Block* const block = queue_.finish_and_take(consumer)) {
        if (spec_.release_cost_ns != 0) {
            spin_for(spec_.release_cost_ns);
        }
        free(*block);
    }
}

void FinalizerDiscipline::free(Block& block) noexcept
{
    const std::uint64_t bytes = block.bytes;
    reclaimer_.free(block);
    floating_.remove(bytes);
}

void FinalizerDiscipline::unreachable(Block& block) noexcept
{
    floating_.add(block.bytes);
    pending_.push(block);
}

void FinalizerDiscipline::before_allocate(std::uint64_t /*bytes*/) noexcept
{
    if (spec_.collect_every == 0 || !is_due()) {
        return;
    }
    find();
    if (spec_.gated) {
        drain();
    }
}

// Counts the allocation about to be made; true for exactly one of the threads that meet a due collection.
bool FinalizerDiscipline::is_due() noexcept
{
    std::uint64_t since = allocations_since_.load(std::memory_order_relaxed);
    bool due = false;
    do {
        due = since >= spec_.collect_every;
    } while (!allocations_since_.compare_exchange_weak(since, due ? 1 : since + 1, std::memory_order_relaxed));
    return due;
}

void FinalizerDiscipline::collect() noexcept
{
    allocations_since_.store(0, std::memory_order_relaxed);
    find();
}

void FinalizerDiscipline::find() noexcept
{
    collections_.fetch_add(1, std::memory_order_relaxed);
    queue_.append_all(pending_);
}

DisciplineStats FinalizerDiscipline::stats() const noexcept
{
    DisciplineStats stats;
    stats.floating_bytes = floating_.bytes();
    stats.floating_blocks = floating_.blocks();
    stats.queue_depth = queue_.depth();
    stats.queue_depth_peak = queue_.depth_peak();
    stats.floating_bytes_peak = floating_.peak_bytes();
    stats.collections = collections_.load(std::memory_order_relaxed);
    return stats;
}

void FinalizerDiscipline::reset_peaks() noexcept
{
    floating_.reset_peak();
    queue_.reset_peak();
}

}  // namespace memsweep::lifetime
