#include "core/memory/pool_maintenance.hpp"

#include <chrono>
#include <utility>

#include "core/memory/clock.hpp"
#include "core/sys/cgroup_memory.hpp"

namespace memsweep::memory {

PressureGauges system_pressure_gauges()
{
    return {[] { return sys::stalled_percent("/", "memory"); }, [] { return sys::cgroup_share_used("/"); }};
}

PoolMaintenance::PoolMaintenance(Pool& pool, const model::PoolSpec& spec, PressureGauges gauges)
    : pool_{pool}, spec_{spec}, gauges_{std::move(gauges)}
{
    if (spec.decay_ns != 0) {
        decay_.emplace(spec.decay_ns, steady_ns());
    }
    if (spec.trim_interval_ns != 0) {
        thread_ = std::thread{[this] { run(); }};
    }
}

PoolMaintenance::~PoolMaintenance()
{
    {
        const std::lock_guard lock{mutex_};
        ending_ = true;
    }
    wake_.notify_one();
    if (thread_.joinable()) {
        thread_.join();
    }
}

void PoolMaintenance::run()
{
    const std::chrono::nanoseconds interval{static_cast<std::int64_t>(spec_.trim_interval_ns)};
    while (true) {
        {
            std::unique_lock lock{mutex_};
            if (wake_.wait_for(lock, interval, [this] { return ending_; })) {
                return;
            }
        }
        pass(steady_ns());
    }
}

bool PoolMaintenance::memory_is_short() const
{
    if (spec_.pressure > 0 && gauges_.stalled_percent().value_or(0) >= spec_.pressure) {
        return true;
    }
    return spec_.cgroup_share > 0 && gauges_.cgroup_share().value_or(0) >= spec_.cgroup_share;
}

std::uint64_t PoolMaintenance::pass(std::int64_t now_ns)
{
    passes_.fetch_add(1, std::memory_order_relaxed);
    pool_.age();
    if (memory_is_short()) {
        return pool_.trim(0);
    }
    std::uint64_t released = 0;
    if (spec_.lifetime_ns != 0) {
        released += pool_.release_older(now_ns - static_cast<std::int64_t>(spec_.lifetime_ns));
    }
    if (decay_) {
        const std::uint64_t idle = pool_.stats().idle_bytes;
        std::uint64_t limit = 0;
        {
            const std::lock_guard lock{mutex_};
            limit = decay_->limit(now_ns, idle);
        }
        released += pool_.trim(limit);
    }
    if (spec_.trim_to < 1) {
        released +=
            pool_.trim(static_cast<std::uint64_t>(static_cast<double>(pool_.stats().idle_bytes) * spec_.trim_to));
    }
    return released;
}

}  // namespace memsweep::memory
