// The f-reachable queue: blocks that a collection has found, in order, waiting for a finalizer thread.
//
// Cost     a lock per block taken; a collection locks once for all it finds.
// Memory   none per block: they are linked through themselves.
// Threads  any number of collecting and draining threads; each consuming thread has its own number, from 0.
#pragma once

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

    // Appends all that is pending, first pushed first, and wakes the consumers. Returns the bytes appended.
    std::uint64_t append_all(PendingList& pending) noexcept;

    // What this consumer took before is done with; waits for another. nullptr: stopped.
    [[nodiscard]] Block* finish_and_take(std::size_t consumer) noexcept;

    // Waits until every block appended before the call is done with.
    void drain() noexcept;

    // Waits until one more block is done with; false, at once, when none is in the queue.
    [[nodiscard]] bool wait_for_progress() noexcept;

    // From now on consumers get nothing; what they did not take is the caller's, linked by `next`.
    void stop() noexcept;
    [[nodiscard]] Block* take_rest() noexcept;

    [[nodiscard]] std::uint64_t depth() const noexcept;  // appended, not done with
    [[nodiscard]] std::uint64_t depth_peak() const noexcept;
    void reset_peak() noexcept;

  private:
    void finish(std::size_t consumer) noexcept;
    [[nodiscard]] std::uint64_t done_through() const noexcept;

    static constexpr std::uint64_t nobody_waits = std::numeric_limits<std::uint64_t>::max();

    mutable std::mutex mutex_;  // guards everything below
    std::condition_variable work_;
    std::condition_variable drained_;
    std::condition_variable progressed_;
    Block* first_{};
    Block* last_{};
    std::uint64_t appended_{};  // blocks are numbered from 1 in the order they are appended, which is that of taking
    std::uint64_t taken_{};
    std::uint64_t finished_{};
    std::uint64_t depth_peak_{};
    std::vector<std::uint64_t> in_progress_;    // per consumer: the number of its block, 0 for none
    std::uint64_t next_awaited_{nobody_waits};  // the lowest number that a draining thread waits for
    std::uint32_t watching_progress_{};         // threads that wait for any block to be done with
    bool stopped_{};
};

}  // namespace memsweep::lifetime
