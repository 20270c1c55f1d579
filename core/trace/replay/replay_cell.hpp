// A place where one thread leaves a block for another: empty, or full.
//
// Cost     a load and a store where nobody has to wait.
// Sources  futex(2). The waker does not fence: a sleeper that it has not seen wakes by itself after some 50 us.
// Threads  one gives, one takes.
#pragma once

#include <atomic>
#include <cstdint>

namespace memsweep::trace {

class ReplayWaits {
  public:
    // Blocks until the cell is full (or empty); false: the replay has been stopped.
    [[nodiscard]] bool until(const std::atomic<void*>& cell, bool full) noexcept
    {
        return (cell.load(std::memory_order_acquire) != nullptr) == full || wait(cell, full);
    }
    void changed(std::atomic<void*>& cell) noexcept
    {
        if (sleepers_.load(std::memory_order_relaxed) != 0) {
            wake(cell);
        }
    }
    void stop() noexcept { stopped_.store(true, std::memory_order_relaxed); }
    [[nodiscard]] bool stopped() const noexcept { return stopped_.load(std::memory_order_relaxed); }

  private:
    [[nodiscard]] bool wait(const std::atomic<void*>& cell, bool full) noexcept;
    static void wake(std::atomic<void*>& cell) noexcept;

    alignas(64) std::atomic<std::uint32_t> sleepers_{0};
    alignas(64) std::atomic<bool> stopped_{false};
};

}  // namespace memsweep::trace
