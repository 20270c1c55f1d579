// How long calls into an allocator took: the program's own thread, and all others, which no program waits for.
//
// Units    nanoseconds of the steady clock.
// Cost     two clock reads for every call that is timed: those of `timed_from_bytes` and more, which may be system
//          calls. Smaller ones are answered from memory that the allocator has, faster than a clock is read.
// Threads  the program's thread is the one that made it; any thread may add.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

namespace memsweep::memory {

class CallTimes {
  public:
    static constexpr std::size_t timed_from_bytes = 64U << 10U;

    void add(std::uint64_t ns) noexcept
    {
        auto& sum = std::this_thread::get_id() == program_ ? program_ns_ : others_ns_;
        sum.fetch_add(ns, std::memory_order_relaxed);
    }

    [[nodiscard]] std::uint64_t program_ns() const noexcept { return program_ns_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t others_ns() const noexcept { return others_ns_.load(std::memory_order_relaxed); }

  private:
    const std::thread::id program_{std::this_thread::get_id()};
    std::atomic<std::uint64_t> program_ns_{0};
    std::atomic<std::uint64_t> others_ns_{0};
};

}  // namespace memsweep::memory
