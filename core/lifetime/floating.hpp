// Floating blocks: their last handle is gone, and their memory has not been freed yet. Here are the list that they wait
// on, the count of floating bytes, and the times that blocks have floated.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/lifetime/block.hpp"

namespace memsweep::lifetime {

struct DisciplineStats;

struct LatencySummary {
    std::uint64_t count{};
    std::uint64_t median_ns{};
    std::uint64_t p95_ns{};
    std::uint64_t max_ns{};  // exact
};

// How long dropped memory waited until it was freed: a histogram of durations with eight buckets per doubling.
//
// Units    nanoseconds. A quantile is the upper edge of its bucket, at most 12.5 % above the true value.
// Cost     one relaxed addition per release.
// Memory   4 KiB.
// Threads  any may record; a summary taken while others record mixes several instants.
class ReleaseLatency {
  public:
    void record(std::uint64_t duration_ns) noexcept;
    void reset() noexcept;
    [[nodiscard]] LatencySummary summary() const noexcept;

  private:
    static constexpr std::size_t buckets = 512;

    std::array<std::atomic<std::uint64_t>, buckets> counts_{};
    std::atomic<std::uint64_t> max_ns_{0};
};

// Counts what floats.
//
// Units    bytes and blocks.
// Cost     a clock read and three relaxed atomic operations to add; the same and one more to remove.
// Threads  any. Add a block before another thread can free it, and remove it after it is freed: then the count is never
//          too low.
class FloatingGauge {
  public:
    void add(Block& block) noexcept;

    // The facts that remove() needs when the block already belongs to another buffer.
    struct Leaving {
        std::uint64_t bytes{};
        std::int64_t since_ns{};
    };
    [[nodiscard]] static Leaving leaving(const Block& block) noexcept { return {block.bytes, block.since_ns}; }
    void remove(const Leaving& left) noexcept;

    void add_to(DisciplineStats& stats) const noexcept;
    void reset() noexcept;  // the peak starts from the present value, the latencies from none

    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_.load(relaxed); }
    [[nodiscard]] std::uint64_t blocks() const noexcept { return blocks_.load(relaxed); }

  private:
    std::atomic<std::uint64_t> bytes_{0};
    std::atomic<std::uint64_t> blocks_{0};
    std::atomic<std::uint64_t> peak_bytes_{0};
    ReleaseLatency latency_;
};

// Calls visit(block) for each block of a chain linked by `next`. The visitor may free the block or link it elsewhere.
template <typename Visit>
void each_of_chain(Block* first, const Visit& visit)
{
    while (first != nullptr) {
        Block& block = *first;
        first = block.next;
        visit(block);
    }
}

// Released blocks that wait: pushed by whoever drops a last handle, taken all at once.
//
// Cost     push: one compare-and-swap; take_all: one exchange and a walk to put them in order.
// Memory   none: blocks are linked through themselves.
// Threads  any number may push and take; taking everything at once leaves no ABA problem.
class PendingList {
  public:
    void push(Block& block) noexcept
    {
        Block* head = head_.load(relaxed);
        do {
            block.next = head;
        } while (!head_.compare_exchange_weak(head, &block, std::memory_order_release, relaxed));
    }

    // Pushes a chain linked by `next`, first pushed first, as take_all returns it.
    void push_all(Block* oldest) noexcept
    {
        each_of_chain(oldest, [this](Block& block) { push(block); });
    }

    // Takes all blocks, first pushed first, linked by `next`; nullptr: there is none.
    [[nodiscard]] Block* take_all() noexcept
    {
        Block* newest = head_.exchange(nullptr, std::memory_order_acquire);
        Block* oldest = nullptr;
        while (newest != nullptr) {
            Block* const older = newest->next;
            newest->next = oldest;
            oldest = newest;
            newest = older;
        }
        return oldest;
    }

  private:
    std::atomic<Block*> head_{nullptr};
};

}  // namespace memsweep::lifetime
