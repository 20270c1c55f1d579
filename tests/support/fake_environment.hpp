// A clock that advances by a fixed amount at each reading, whichever thread reads it, and a process probe with invented
// counts.
#pragma once

#include <atomic>

#include "core/sys/clock.hpp"
#include "core/sys/process_probe.hpp"

namespace memsweep::tests {

class FakeClock final : public sys::Clock {
  public:
    [[nodiscard]] std::chrono::nanoseconds now() const noexcept override { return advance(now_, tick); }
    [[nodiscard]] std::chrono::nanoseconds process_cpu() const noexcept override { return advance(cpu_, tick / 2); }
    void sleep_for(std::chrono::nanoseconds duration) const noexcept override { advance(now_, duration); }

    std::chrono::nanoseconds tick{1000};

  private:
    static std::chrono::nanoseconds advance(std::atomic<std::int64_t>& time, std::chrono::nanoseconds by) noexcept
    {
        return std::chrono::nanoseconds{time.fetch_add(by.count()) + by.count()};
    }

    mutable std::atomic<std::int64_t> now_{1'000'000};
    mutable std::atomic<std::int64_t> cpu_{0};
};

// Every snapshot costs three minor faults and 1 us in the kernel, as a real one might; reading these costs none.
class FakeProbe final : public sys::ProcessProbe {
  public:
    [[nodiscard]] base::Expected<sys::MemorySnapshot> snapshot() noexcept override
    {
        minor_faults += 3;
        kernel_time += std::chrono::microseconds{1};
        return sys::MemorySnapshot{.rss_bytes = rss_bytes, .minor_faults = minor_faults};
    }
    [[nodiscard]] sys::KernelUse kernel_use() const noexcept override { return {minor_faults, 0, kernel_time}; }
    [[nodiscard]] std::optional<std::chrono::nanoseconds> run_delay() const noexcept override { return delay; }
    void reset_peak() noexcept override {}
    [[nodiscard]] base::Expected<std::uint64_t> peak_bytes() noexcept override { return peak; }

    std::uint64_t rss_bytes{10 << 20};
    std::uint64_t peak{50 << 20};
    std::uint64_t minor_faults{100};
    std::chrono::nanoseconds kernel_time{};
    std::optional<std::chrono::nanoseconds> delay{0};
};

}  // namespace memsweep::tests
