// A thread that trims a pool at intervals.
//
// Each pass starts to count the age of blocks that have not been used since the last pass. Then the pass returns idle
// blocks to the upstream: those older than PoolSpec::lifetime_ns, those beyond the decay curve (SmoothDecay), and those
// beyond the share to keep (PoolSpec::trim_to). If memory is short, the pass returns all idle blocks.
//
// Units    nanoseconds of the steady clock; bytes.
// Cost     a pass visits every class of the pool. If PoolSpec::pressure or PoolSpec::cgroup_share is set, the pass also
//          reads /proc/pressure or the files of the control group.
// Threads  PoolMaintenance runs a thread of its own; other threads may call pass() too.
// Ownership  borrows the pool, which must outlive it. The destructor ends the thread.
#pragma once

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "core/memory/pool.hpp"

namespace memsweep::memory {

// Limits the idle memory of a pool such that idle memory is returned gradually over a fixed time, the decay time.
// Memory that has just become idle may stay. Memory that has been idle for the whole decay time may not. Between these
// two times, the share that may stay falls along a smooth curve.
//
// Sources  jemalloc's decay: 200 steps, the smootherstep 6x^5 - 15x^4 + 10x^3.
// Units    bytes, nanoseconds of one clock.
// Threads  one at a time.
class SmoothDecay {
  public:
    static constexpr std::int64_t steps = 200;

    SmoothDecay(std::uint64_t decay_ns, std::int64_t now_ns) noexcept
        : step_ns_{std::max<std::int64_t>(static_cast<std::int64_t>(decay_ns) / steps, 1)}, began_ns_{now_ns}
    {
    }

    // Returns how many of `idle_bytes` may stay idle. The caller returns the remainder to the upstream.
    [[nodiscard]] std::uint64_t limit(std::int64_t now_ns, std::uint64_t idle_bytes) noexcept
    {
        const std::int64_t passed = (now_ns - began_ns_) / step_ns_;
        if (passed > 0) {
            began_ns_ += passed * step_ns_;
            shift(passed);
            backlog_.back() = idle_bytes > kept_bytes_ ? idle_bytes - kept_bytes_ : 0;
        }
        double limit = 0;
        for (std::size_t i = 0; i < backlog_.size(); ++i) {
            limit += static_cast<double>(backlog_[i]) * share(static_cast<double>(i + 1) / steps);
        }
        // Bytes that became idle within the current step all stay.
        const std::uint64_t fresh = passed > 0 || idle_bytes <= kept_bytes_ ? 0 : idle_bytes - kept_bytes_;
        const std::uint64_t allowed = std::min(idle_bytes, static_cast<std::uint64_t>(limit) + fresh);
        if (passed > 0) {
            kept_bytes_ = allowed;
        }
        return allowed;
    }

  private:
    [[nodiscard]] static double share(double x) noexcept { return x * x * x * (x * (x * 6 - 15) + 10); }

    void shift(std::int64_t passed) noexcept
    {
        const auto gone = static_cast<std::ptrdiff_t>(std::min<std::int64_t>(passed, steps));
        std::fill(std::move(backlog_.begin() + gone, backlog_.end(), backlog_.begin()), backlog_.end(), 0);
    }

    std::int64_t step_ns_;
    std::int64_t began_ns_;
    std::uint64_t kept_bytes_{};
    std::array<std::uint64_t, steps> backlog_{};  // bytes that became idle in each of the last steps, oldest first
};

// How short memory is: the percentage of time stalled for memory, and the used share of the control group's limit.
// nullopt: not known.
struct PressureGauges {
    std::function<std::optional<double>()> stalled_percent;
    std::function<std::optional<double>()> cgroup_share;
};
[[nodiscard]] PressureGauges system_pressure_gauges();

class PoolMaintenance {
  public:
    PoolMaintenance(Pool& pool, const model::PoolSpec& spec, PressureGauges gauges);
    PoolMaintenance(const PoolMaintenance&) = delete;
    PoolMaintenance& operator=(const PoolMaintenance&) = delete;
    ~PoolMaintenance();

    // Makes one pass now. Returns how many bytes went back to the upstream.
    std::uint64_t pass(std::int64_t now_ns);

    [[nodiscard]] std::uint64_t passes() const noexcept { return passes_.load(std::memory_order_relaxed); }
    void reset_counts() noexcept { passes_.store(0, std::memory_order_relaxed); }

  private:
    void run();
    [[nodiscard]] bool memory_is_short() const;

    Pool& pool_;
    const model::PoolSpec spec_;
    PressureGauges gauges_;
    std::atomic<std::uint64_t> passes_{0};
    std::mutex mutex_;  // guards decay_ and ending_
    std::optional<SmoothDecay> decay_;
    bool ending_{};
    std::condition_variable wake_;
    std::thread thread_;
};

}  // namespace memsweep::memory
