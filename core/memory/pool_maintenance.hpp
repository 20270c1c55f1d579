// What a pool gives back by itself: a thread that looks at it in intervals.
//
// A pass lets what nobody needed begin to age, gives back what has aged beyond its lifetime, what the decay curve no
// longer allows, what exceeds the share to keep, and everything when memory is short.
//
// Units    nanoseconds of the steady clock; bytes.
// Cost     a pass looks at every class of the pool, and reads /proc/pressure and the control groups where a rule asks.
// Threads  one of its own; pass() may be called by another one as well.
// Ownership  borrows the pool, which must outlive it. Destruction ends the thread.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "core/memory/pool.hpp"
#include "core/memory/smooth_decay.hpp"

namespace memsweep::memory {

// How short memory is; absent: it cannot be told.
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
    std::mutex mutex_;  // guards the decay and the wish to end
    std::optional<SmoothDecay> decay_;
    bool ending_{};
    std::condition_variable wake_;
    std::thread thread_;
};

}  // namespace memsweep::memory
