// The JVM's limit on direct buffers: bytes are reserved before an allocation and unreserved when a buffer is freed.
//
// Sources  OpenJDK, java.nio.Bits.reserveMemory. While releases are under way, this function waits for each release and
//          tries again. Afterwards it calls System.gc() and goes on trying; whenever no release is under way, it
//          sleeps: 1 ms the first time, then 2, 4, ... 256 ms. If it fails after the last sleep, it throws
//          OutOfMemoryError.
// Cost     one compare-and-swap per allocation, as long as the limit (cap) is not reached.
// Threads  any.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "core/lifetime/discipline.hpp"

namespace memsweep::lifetime {

class ReserveCap {
  public:
    explicit ReserveCap(const model::ReserveCap& spec) noexcept : spec_{spec} {}

    // Reserves the bytes; false: they do not fit under the limit, even after the last sleep. `wait_for_progress` waits
    // for one release and returns false if none is under way; `collect` is System.gc().
    template <typename WaitForProgress, typename Collect>
    [[nodiscard]] bool reserve(std::uint64_t bytes, const WaitForProgress& wait_for_progress,
                               const Collect& collect) noexcept
    {
        if (try_reserve(bytes)) {
            return true;
        }
        while (wait_for_progress()) {
            if (try_reserve(bytes)) {
                return true;
            }
        }
        if (spec_.explicit_gc) {
            collect();
        }
        for (std::uint32_t slept = 0;;) {
            if (try_reserve(bytes)) {
                return true;
            }
            if (slept == spec_.sleeps) {
                return false;
            }
            if (!wait_for_progress()) {
                sleep(slept++);
            }
        }
    }

    void unreserve(std::uint64_t bytes) noexcept { reserved_.fetch_sub(bytes, relaxed); }

    [[nodiscard]] std::uint64_t sleeps() const noexcept { return sleeps_.load(relaxed); }
    [[nodiscard]] std::uint64_t slept_ns() const noexcept { return slept_ns_.load(relaxed); }
    void reset_counts() noexcept
    {
        sleeps_.store(0, relaxed);
        slept_ns_.store(0, relaxed);
    }

  private:
    [[nodiscard]] bool try_reserve(std::uint64_t bytes) noexcept
    {
        if (spec_.bytes == 0) {
            return true;
        }
        std::uint64_t reserved = reserved_.load(relaxed);
        do {
            if (bytes > spec_.bytes - reserved) {
                return false;
            }
        } while (!reserved_.compare_exchange_weak(reserved, reserved + bytes, relaxed));
        return true;
    }

    void sleep(std::uint32_t number) noexcept
    {
        const std::int64_t before = steady_ns();
        std::this_thread::sleep_for(
            std::chrono::nanoseconds{static_cast<std::int64_t>(spec_.first_sleep_ns << number)});
        sleeps_.fetch_add(1, relaxed);
        slept_ns_.fetch_add(static_cast<std::uint64_t>(steady_ns() - before), relaxed);
    }

    model::ReserveCap spec_;
    std::atomic<std::uint64_t> reserved_{0};
    std::atomic<std::uint64_t> sleeps_{0};
    std::atomic<std::uint64_t> slept_ns_{0};
};

}  // namespace memsweep::lifetime
