// The exact counters of one stack of resources. Standard-layout, and all zeros when new, so that it can lie in memory
// shared with the process that watches.
//
// Units    bytes, counts.
// Cost     each thread counts in a line of its own: plain additions, no locked instruction. A reader adds up the lines
//          of all threads that ever counted.
// Memory   64 bytes per thread that can count.
// Threads  every sum is exact once the counting threads have been waited for; before, each line is exact at the instant
//          at which it is read. The peak is exact while one thread allocates, even if others free. If several allocate,
//          each reads the live bytes of all after every 64 KiB that it has allocated. So the peak may miss that much
//          per thread, or count bytes twice that pass from thread to thread at that instant.
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

    [[nodiscard]] std::uint64_t allocations() const noexcept { return sum(&Line::allocations); }  // granted
    [[nodiscard]] std::uint64_t deallocations() const noexcept { return sum(&Line::deallocations); }
    [[nodiscard]] std::uint64_t refusals() const noexcept { return sum(&Line::refusals); }
    [[nodiscard]] std::uint64_t allocated_bytes() const noexcept { return sum(&Line::allocated_bytes); }  // gross
    [[nodiscard]] std::uint64_t live_bytes() const noexcept;  // acquired minus released
    [[nodiscard]] std::uint64_t live_bytes_peak() const noexcept { return peak_bytes_.load(relaxed); }

    // Restarts the peak from the bytes live now.
    void restart_peak() noexcept { peak_bytes_.store(live_bytes(), relaxed); }

  private:
    static constexpr auto relaxed = std::memory_order_relaxed;
    static constexpr std::uint64_t unseen_limit_bytes = 64U << 10U;

    // The counters of one thread, which alone writes them; several threads may share the last line.
    struct alignas(64) Line {
        std::atomic<std::uint64_t> allocations{0};
        std::atomic<std::uint64_t> deallocations{0};
        std::atomic<std::uint64_t> refusals{0};
        std::atomic<std::uint64_t> allocated_bytes{0};
        std::atomic<std::uint64_t> freed_bytes{0};
        std::atomic<std::uint64_t> unseen_bytes{0};  // allocated since this thread last looked at the peak
    };

    // The calling thread's line, if it is in use and no other thread's; else nullptr.
    [[nodiscard]] Line* known_line() noexcept
    {
        const std::uint32_t slot = current_thread_slot;
        return slot < own_lines_used_.load(relaxed) ? &lines_[slot] : nullptr;
    }
    [[nodiscard]] Line& own_line() noexcept;

    // The release pairs with the readers' acquire: a thread that has learnt of an allocation or a free finds it
    // counted.
    static void add_own(std::atomic<std::uint64_t>& counter, std::uint64_t amount) noexcept
    {
        counter.store(counter.load(relaxed) + amount, std::memory_order_release);
    }

    // Called by a thread that has not counted in its line yet, or that shares it.
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

    std::atomic<std::uint32_t> lines_used_{0};      // the first so many
    std::atomic<std::uint32_t> own_lines_used_{0};  // the same without the last one
    std::atomic<std::uint32_t> allocating_{0};      // lines that have counted an allocation
    std::atomic<std::uint64_t> peak_bytes_{0};
    std::array<Line, thread_slots + 1> lines_{};
};

}  // namespace memsweep::memory
