// Floating blocks: their last handle is gone, and their memory has not been freed yet. This file has the list that they
// are in, the count of floating bytes, and a histogram of how long blocks floated.
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

// A histogram of how long dropped memory waited until it was freed, with eight buckets per doubling.
//
// Units    nanoseconds. A quantile is the upper edge of its bucket, at most 12.5 % above the true value.
// Cost     one relaxed addition per release.
// Memory   4 KiB.
// Threads  any thread may record. If other threads record while a summary is taken, the summary mixes several instants.
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

// Counts the floating blocks and their bytes.
//
// Units    bytes and blocks.
// Cost     to add a block, a clock read and three relaxed atomic operations; to remove it, a clock read and four of
//          these operations.
// Threads  any. Add a block before another thread can free it, and remove it after it is freed, so that the count is
//          never too low.
class FloatingGauge {
  public:
    void add(Block& block) noexcept;

    // What remove() needs to know about a block. Read it before the block is freed and reused by another buffer.
    struct Leaving {
        std::uint64_t bytes{};
        std::int64_t since_ns{};
    };
    [[nodiscard]] static Leaving leaving(const Block& block) noexcept { return {block.bytes, block.since_ns}; }
    void remove(const Leaving& left) noexcept;

    void add_to(DisciplineStats& stats) const noexcept;
    void reset() noexcept;  // restarts the peak from the present value, and forgets the latencies

    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_.load(relaxed); }
    [[nodiscard]] std::uint64_t blocks() const noexcept { return blocks_.load(relaxed); }

  private:
    std::atomic<std::uint64_t> bytes_{0};
    std::atomic<std::uint64_t> blocks_{0};
    std::atomic<std::uint64_t> peak_bytes_{0};
    ReleaseLatency latency_;
};

// Calls visit(block) for each block of a chain linked by `next`. `visit` may free the block or put it into another
// list.
template <typename Visit>
void each_of_chain(Block* first, const Visit& visit)
{
    while (first != nullptr) {
        Block& block = *first;
        first = block.next;
        visit(block);
    }
}

// A list of released blocks. A thread that drops a last handle pushes the block; all blocks are taken at once.
//
// Cost     push: one compare-and-swap; take_all: one exchange, and a walk to put the blocks in order.
// Memory   none: blocks are linked by their `next`.
// Threads  any number may push and take. Because all blocks are taken at once, there is no ABA problem.
class PendingList {
  public:
    void push(Block& block) noexcept
    {
        Block* head = head_.load(relaxed);
        do {
            block.next = head;
        } while (!head_.compare_exchange_weak(head, &block, std::memory_order_release, relaxed));
    }

    // Pushes a chain that take_all() returned.
    void push_all(Block* oldest) noexcept
    {
        each_of_chain(oldest, [this](Block& block) { push(block); });
    }

    // Takes all blocks as a chain linked by `next`, oldest first; nullptr: there is none.
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
