// A thread that trims a pool at intervals.
//
// A pass begins to count the age of blocks that nobody needed since the last pass. It gives back blocks older than
// their lifetime, and blocks beyond the decay curve or the share to keep. If memory is short, it gives back everything.
//
// Units    nanoseconds of the steady clock; bytes.
// Cost     a pass looks at every class of the pool. If a rule needs them, it reads /proc/pressure and the control
//          groups.
// Threads  one of its own; pass() may be called by another one as well.
// Ownership  borrows the pool, which must outlive it. Destruction ends the thread.
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

// How much idle memory a pool may keep if it gives idle memory back gradually over a fixed time. Memory that has just
// become idle may all stay. Memory that has been idle for the whole time must go. In between, a smooth curve decides.
//
// Sources  jemalloc's decay: 200 steps, the smootherstep 6x^5 - 15x^4 + 10x^3.
// Units    bytes, nanoseconds of one clock.
// Threads  the owner's.
class SmoothDecay {
  public:
    static constexpr std::int64_t steps = 200;

    SmoothDecay(std::uint64_t decay_ns, std::int64_t now_ns) noexcept
        : step_ns_{std::max<std::int64_t>(static_cast<std::int64_t>(decay_ns) / steps, 1)}, began_ns_{now_ns}
    {
    }

    // The part of `idle_bytes` that may stay idle; the caller gives the rest back.
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
        // Newly idle bytes stay until a step has passed.
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

// How short memory is; absent: not known.
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

    // Returns the bytes given back.
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
