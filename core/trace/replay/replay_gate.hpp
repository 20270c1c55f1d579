// Opens the steps of a replay (replay_program.hpp) to its threads, one step after the other.
//
// Cost     a step costs an atomic subtraction in each of its threads, and a store in the last thread to leave it. A
//          thread that comes too early spins for some two microseconds, yields its processor for a while, and then
//          sleeps on a futex.
// Memory   64 words.
// Sources  futex(2). A thread counts itself as a sleeper before it checks again whether its step is open. The thread
//          that opens a step does so before it looks for sleepers. So no sleeper is missed.
// Threads  any; each thread enters and leaves the steps that it has a part of, in the order of the steps.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace memsweep::trace {

class ReplayGate {
  public:
    // `members`: for each step, how many threads have a part of it.
    explicit ReplayGate(std::span<const std::uint64_t> members) : members_{members}
    {
        left_.store(members.empty() ? 0 : members.front(), std::memory_order_relaxed);
    }

    [[nodiscard]] bool is_open(std::uint64_t step) const noexcept
    {
        return open_.load(std::memory_order_acquire) >= step;
    }
    // Waits until the step is open. False: stop() was called.
    [[nodiscard]] bool wait(std::uint64_t step) noexcept;
    // Each thread with a part of the step calls this after its part. The last thread to call it opens the next step.
    void leave() noexcept
    {
        if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            open_next();
        }
    }
    void stop() noexcept;

  private:
    void open_next() noexcept;

    std::span<const std::uint64_t> members_;
    alignas(64) std::atomic<std::uint64_t> open_{0};
    std::atomic<bool> stopped_{false};
    alignas(64) std::atomic<std::uint64_t> left_{0};
    struct Bed {
        std::atomic<std::uint32_t> turn{0};
        std::atomic<std::uint32_t> sleepers{0};
    };
    alignas(64) std::array<Bed, 64> beds_{};  // threads that wait for step n sleep in beds_[n % 64]
};

}  // namespace memsweep::trace
