// A place where one thread leaves a block for another: empty, or full.
//
// Cost     a load and a store where nobody has to wait. A system call only while somebody sleeps at this cell, or a
//          multiple of 64 cells away from it.
// Sources  futex(2). The waker does not fence: a sleeper that it has not seen wakes by itself after some 50 us.
// Threads  one gives, one takes.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace memsweep::trace {

// The content of a full cell whose block has no address or lies beside the cell.
[[nodiscard]] inline void* full_cell() noexcept
{
    return reinterpret_cast<void*>(std::uintptr_t{1});  // NOLINT(performance-no-int-to-ptr): a mark, never followed
}

class ReplayWaits {
  public:
    // Blocks until the cell is full (or empty), and counts if it had to; false: the replay has been stopped.
    [[nodiscard]] bool until(const std::atomic<void*>& cell, bool full, std::uint64_t& waits) noexcept
    {
        if ((cell.load(std::memory_order_acquire) != nullptr) == full) [[likely]] {
            return true;
        }
        ++waits;
        return wait(cell, full);
    }
    void changed(std::atomic<void*>& cell) noexcept
    {
        if (sleepers_at(cell).load(std::memory_order_relaxed) != 0) {
            wake(cell);
        }
    }
    void stop() noexcept { stopped_.store(true, std::memory_order_relaxed); }
    [[nodiscard]] bool stopped() const noexcept { return stopped_.load(std::memory_order_relaxed); }

  private:
    [[nodiscard]] bool wait(const std::atomic<void*>& cell, bool full) noexcept;
    static void wake(std::atomic<void*>& cell) noexcept;
    [[nodiscard]] std::atomic<std::uint32_t>& sleepers_at(const std::atomic<void*>& cell) noexcept
    {
        return sleepers_[reinterpret_cast<std::uintptr_t>(&cell) / sizeof cell % sleepers_.size()];
    }

    alignas(64) std::array<std::atomic<std::uint32_t>, 64> sleepers_{};
    alignas(64) std::atomic<bool> stopped_{false};
};

}  // namespace memsweep::trace
