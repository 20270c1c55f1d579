#include "core/engine/accounts.hpp"

#include <algorithm>

#include "core/lifetime/clock.hpp"

namespace memsweep::engine {

bool Accounts::take_baseline()
{
    memory_.counters.restart_peak();
    memory_.heap.reset_counts();
    memory_.stack.reset_pool_counts();
    allocations_before_ = memory_.counters.allocations();
    bytes_before_ = memory_.counters.allocated_bytes();
    strays_before_ = memory_.heap.stray_releases();
    began_ns_ = lifetime::steady_ns();
    probe_.reset_peak();
    const auto snapshot = probe_.snapshot();
    if (!snapshot) {
        return false;
    }
    record_.baseline_working_set_bytes = snapshot->working_set_bytes();
    record_.baseline_huge_page_bytes = snapshot->anon_huge_bytes;
    stopwatch_.begin();
    region_.header->started_ns.store(stopwatch_.started().count(), std::memory_order_relaxed);
    region_.header->state.store(RunState::running, std::memory_order_release);
    return true;
}

bool Accounts::take_end()
{
    record_.all_minor_faults = stopwatch_.faults_so_far().minor;
    const auto peak = probe_.peak_bytes();
    const auto snapshot = probe_.snapshot();
    record_.live_bytes_peak = std::max(memory_.counters.live_bytes_peak(), record_.replay.direct_live_peak);
    record_.arrays = memory_.counters.allocations() - allocations_before_ + record_.replay.direct_allocations;
    record_.allocated_bytes = memory_.counters.allocated_bytes() - bytes_before_ + record_.replay.direct_bytes;
    record_.discipline = memory_.heap.stats();
    record_.pool = pool_stats();
    record_.stray_releases = memory_.heap.stray_releases() - strays_before_;
    count_outstanding();
    if (!snapshot || !peak) {
        return false;
    }
    record_.end_working_set_bytes = snapshot->working_set_bytes();
    record_.peak_working_set_bytes = std::max(*peak, record_.end_working_set_bytes);
    return true;
}

// What earlier repetitions lost in this memory is outstanding still, but no name of this one stands for it.
void Accounts::count_outstanding()
{
    const std::int64_t now = lifetime::steady_ns();
    memory_.heap.each_outstanding([&](const lifetime::Heap::Outstanding& one) {
        ++record_.outstanding;
        if (!one.reachable && one.since_ns >= began_ns_ && one.tag < region_.slot_records.size()) {
            SlotRecord& slot = region_.slot_records[one.tag];
            ++slot.unreleased;
            slot.unreleased_bytes += one.bytes;
            slot.oldest_ns = std::max(slot.oldest_ns, now - one.since_ns);
        }
    });
}

// Looked at wherever it is counted, so that the highest fragmentation is that of every sample and the end.
memory::PoolStats Accounts::pool_stats()
{
    const memory::PoolStats stats = memory_.stack.pool_stats();
    if (stats.idle_bytes != 0) {
        const double largest = static_cast<double>(stats.largest_idle_bytes);
        record_.fragmentation = std::max(record_.fragmentation, 1 - largest / static_cast<double>(stats.idle_bytes));
    }
    return stats;
}

// What a sample costs is taken out of every time and fault count that encloses it.
void Accounts::sample(const Sample& sample)
{
    const Stopwatch::Pause pause = stopwatch_.pause();
    const std::uint32_t index = region_.header->points.load(std::memory_order_relaxed);
    if (index < region_.points.size()) {
        fill_point(region_.points[index], sample, pause.wall);
        region_.header->points.store(index + 1, std::memory_order_release);
    }
    stopwatch_.resume(pause);
}

void Accounts::fill_point(PointRecord& point, const Sample& sample, std::chrono::nanoseconds now)
{
    const lifetime::DisciplineStats stats = memory_.heap.stats();
    const sys::FaultCounts faults = stopwatch_.faults_so_far();
    point.name = sample.name;
    point.t_ns = (now - stopwatch_.started()).count();
    point.live_bytes = memory_.counters.live_bytes();
    point.floating_bytes = stats.floating_bytes;
    point.queue_depth = stats.queue_depth;
    point.idle_bytes = stats.idle_bytes + pool_stats().idle_bytes;
    point.minor_faults = faults.minor;
    point.major_faults = faults.major;
    if (sample.counters_only) {
        return;
    }
    if (const auto snapshot = probe_.snapshot()) {
        point.working_set_bytes = snapshot->working_set_bytes();
        point.huge_page_bytes = snapshot->anon_huge_bytes;
    }
}

}  // namespace memsweep::engine
