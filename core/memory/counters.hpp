// Exact counters of the allocations and bytes of one stack of resources (stack.hpp). The class has standard layout, and
// a new object is all zeros. So it can lie in memory that another process reads too.
//
// Units    bytes, counts.
// Cost     each thread counts in a cache line of its own: plain additions, no locked instruction. A reader adds up the
//          lines of all threads that ever counted.
// Memory   a cache line of 64 bytes for each of thread_slots threads, and one line that all other threads share.
// Threads  sums are exact after the counting threads have been joined. Before that, a sum adds up lines that were read
//          one after another, while threads may still count. The peak is exact if only one thread allocates, even if
//          others free. If several threads allocate, each updates the peak after every 64 KiB of its own allocations.
//          So the peak may be too low by 64 KiB per thread. The peak may also be too high: while it is computed, bytes
//          that one thread frees and another allocates may be counted twice.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/memory/thread_slot.hpp"

namespace memsweep::memory {

class Counters {
  public:
    void count_granted(std::uint64_t bytes) noexcept
    {
        Line* const line = known_line();
        if (line == nullptr || line->allocations.load(relaxed) == 0) [[unlikely]] {
            return count_granted_first(bytes);
        }
        add_own(line->allocations, 1);
        add_own(line->allocated_bytes, bytes);
        if (lines_used_.load(relaxed) == 1) [[likely]] {
            raise_peak_to(line->allocated_bytes.load(relaxed) - line->freed_bytes.load(relaxed));
        } else {
            look_at_peak(*line, bytes);
        }
    }
    void count_returned(std::uint64_t bytes) noexcept
    {
        Line* const line = known_line();
        if (line == nullptr) [[unlikely]] {
            return count_returned_first(bytes);
        }
        add_own(line->deallocations, 1);
        add_own(line->freed_bytes, bytes);
    }
    void count_refused() noexcept;

    [[nodiscard]] std::uint64_t allocations() const noexcept { return sum(&Line::allocations); }  // without refusals
    [[nodiscard]] std::uint64_t deallocations() const noexcept { return sum(&Line::deallocations); }
    [[nodiscard]] std::uint64_t refusals() const noexcept { return sum(&Line::refusals); }
    [[nodiscard]] std::uint64_t allocated_bytes() const noexcept { return sum(&Line::allocated_bytes); }  // in total
    [[nodiscard]] std::uint64_t live_bytes() const noexcept;  // allocated minus freed
    [[nodiscard]] std::uint64_t live_bytes_peak() const noexcept { return peak_bytes_.load(relaxed); }

    // Sets the peak to the bytes that are live now.
    void restart_peak() noexcept { peak_bytes_.store(live_bytes(), relaxed); }

  private:
    static constexpr auto relaxed = std::memory_order_relaxed;
    static constexpr std::uint64_t unseen_limit_bytes = 64U << 10U;

    // The counters of one thread; no other thread writes them. Only the last line may be shared by several threads.
    struct alignas(64) Line {
        std::atomic<std::uint64_t> allocations{0};
        std::atomic<std::uint64_t> deallocations{0};
        std::atomic<std::uint64_t> refusals{0};
        std::atomic<std::uint64_t> allocated_bytes{0};
        std::atomic<std::uint64_t> freed_bytes{0};
        std::atomic<std::uint64_t> unseen_bytes{0};  // bytes allocated since this thread last updated the peak
    };

    // The calling thread's own line; nullptr if the thread has not counted yet, or shares a line.
    [[nodiscard]] Line* known_line() noexcept
    {
        const std::uint32_t slot = current_thread_slot;
        return slot < own_lines_used_.load(relaxed) ? &lines_[slot] : nullptr;
    }
    [[nodiscard]] Line& own_line() noexcept;

    // The release store pairs with the acquire loads of readers. So a thread that knows of an allocation or a free also
    // finds it in the counters.
    static void add_own(std::atomic<std::uint64_t>& counter, std::uint64_t amount) noexcept
    {
        counter.store(counter.load(relaxed) + amount, std::memory_order_release);
    }

    // These functions count for a thread that has not counted in its line yet, or that shares its line.
    void count_granted_first(std::uint64_t bytes) noexcept;
    void count_returned_first(std::uint64_t bytes) noexcept;
    void add(const Line& line, std::atomic<std::uint64_t>& counter, std::uint64_t amount) noexcept;

    void raise_peak_to(std::uint64_t live) noexcept
    {
        std::uint64_t peak = peak_bytes_.load(relaxed);
        while (live > peak && !peak_bytes_.compare_exchange_weak(peak, live, relaxed)) {
        }
    }
    void look_at_peak(Line& line, std::uint64_t bytes) noexcept;

    [[nodiscard]] std::uint64_t sum(std::atomic<std::uint64_t> Line::*field) const noexcept;

    std::atomic<std::uint32_t> lines_used_{0};      // lines with this index or a higher one were never used
    std::atomic<std::uint32_t> own_lines_used_{0};  // as lines_used_, but never includes the shared last line
    std::atomic<std::uint32_t> allocating_{0};      // the number of lines that have counted an allocation
    std::atomic<std::uint64_t> peak_bytes_{0};
    std::array<Line, thread_slots + 1> lines_{};
};

}  // namespace memsweep::memory
