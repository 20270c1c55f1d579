#include "core/engine/steps/accounts.hpp"

#include <algorithm>

#include "core/memory/clock.hpp"
#include "core/sys/allocator_library.hpp"

namespace memsweep::engine {

Stopwatch::Stopwatch(Environment environment, const CaseMemory& memory, StepRecord& record) noexcept
    : clock_{environment.clock}, probe_{environment.probe}, memory_{memory}, record_{record}
{
}

void Stopwatch::begin()
{
    kernel_at_start_ = probe_.kernel_use();
    record_.knows_run_delay = probe_.run_delay().has_value();
    started_ = clock_.now();
}

sys::KernelUse Stopwatch::kernel_so_far() const
{
    return probe_.kernel_use() - kernel_at_start_ - excluded_.kernel;
}

void Stopwatch::start()
{
    costs_at_watch_ = costs_of_thread() - excluded_.costs;
    running_ = true;
    arrays_at_start_ = record_.array_counts.made;
    cpu_at_start_ = clock_.process_cpu() - excluded_.cpu;
    kernel_at_watch_ = kernel_so_far();
    wall_at_start_ = clock_.now() - excluded_.wall;
}

void Stopwatch::stop()
{
    const std::chrono::nanoseconds now = clock_.now() - excluded_.wall;
    const sys::KernelUse kernel = kernel_so_far() - kernel_at_watch_;
    const std::chrono::nanoseconds cpu = clock_.process_cpu() - excluded_.cpu;
    running_ = false;
    record_.wall_ns += (now - wall_at_start_).count();
    record_.cpu_ns += (cpu - cpu_at_start_).count();
    record_.kernel_ns += kernel.time.count();
    record_.minor_faults += kernel.minor_faults;
    record_.major_faults += kernel.major_faults;
    record_.timed_arrays += record_.array_counts.made - arrays_at_start_;
    record_.costs += costs_of_thread() - excluded_.costs - costs_at_watch_;
}

Stopwatch::Pause Stopwatch::pause() const
{
    const std::chrono::nanoseconds wall = clock_.now();
    return {wall, clock_.process_cpu(), probe_.kernel_use(), costs_of_thread()};
}

void Stopwatch::resume(const Pause& since)
{
    excluded_.kernel += probe_.kernel_use() - since.kernel;
    excluded_.costs += costs_of_thread() - since.costs;
    excluded_.cpu += clock_.process_cpu() - since.cpu;
    excluded_.wall += clock_.now() - since.wall;
}

Stopwatch::PhaseStart Stopwatch::enter_phase() const
{
    const sys::KernelUse kernel = kernel_so_far();
    return {clock_.now() - excluded_.wall, kernel, costs_of_memory() - excluded_.costs};
}

void Stopwatch::leave_phase(PhaseRecord& phase, const PhaseStart& start) const
{
    const std::chrono::nanoseconds now = clock_.now();
    const sys::KernelUse kernel = kernel_so_far() - start.kernel;
    if (phase.entered++ == 0) {
        phase.first_start_ns = (start.wall + excluded_.wall - started_).count();
    }
    phase.last_end_ns = (now - started_).count();
    phase.costs += costs_of_memory() - excluded_.costs - start.costs;
    phase.time_ns += (now - excluded_.wall - start.wall).count();
    phase.minor_faults += kernel.minor_faults;
    phase.major_faults += kernel.major_faults;
}

Costs Stopwatch::costs_of_memory() const
{
    return {memory_.stack.call_times().program_ns(), memory_.heap.wait_ns(), 0, record_.array_counts.pages_touched,
            memory_.counters.allocated_bytes()};
}

Costs Stopwatch::costs_of_thread() const
{
    Costs costs = costs_of_memory();
    costs.run_delay_ns = static_cast<std::uint64_t>(probe_.run_delay().value_or(std::chrono::nanoseconds{}).count());
    return costs;
}

// From the sums alone: what is highest, or is at a time, stays.
void Accounts::take_away(const Counts& part, lifetime::DisciplineStats& discipline, memory::PoolStats& pool)
{
    for (const auto field : lifetime::DisciplineStats::sums) {
        discipline.*field -= part.discipline.*field;
    }
    for (const auto field : memory::PoolStats::sums) {
        pool.*field -= part.pool.*field;
    }
}

Accounts::Accounts(const RunRegion& region, CaseMemory& memory, sys::ProcessProbe& probe, Stopwatch& stopwatch)
    : region_{region}, record_{region.header->record}, memory_{memory}, probe_{probe}, stopwatch_{stopwatch}
{
}

bool Accounts::take_baseline()
{
    memory_.counters.restart_peak();
    memory_.heap.reset_counts();
    memory_.stack.reset_pool_counts();
    allocations_before_ = memory_.counters.allocations();
    bytes_before_ = memory_.counters.allocated_bytes();
    strays_before_ = memory_.heap.stray_releases();
    began_ns_ = memory::steady_ns();
    probe_.reset_peak();
    const auto snapshot = probe_.snapshot();
    if (!snapshot) {
        return false;
    }
    record_.baseline_working_set_bytes = snapshot->working_set_bytes();
    record_.baseline_huge_page_bytes = snapshot->anon_huge_bytes;
    record_.replay.anonymous_before_bytes = snapshot->anon_bytes + snapshot->hugetlb_bytes;
    record_.own_bytes += snapshot->rss_bytes - std::min(snapshot->rss_bytes, snapshot->anon_bytes);
    if (!region_.replays.empty()) {
        region_.header->own_bytes.store(record_.own_bytes, std::memory_order_relaxed);
    }
    stopwatch_.begin();
    region_.header->started_ns.store(stopwatch_.started().count(), std::memory_order_relaxed);
    region_.header->state.store(RunState::running, std::memory_order_release);
    return true;
}

Accounts::Counts Accounts::counts() const
{
    return {memory_.counters.allocations(), memory_.counters.allocated_bytes(), memory_.heap.stats(),
            memory_.stack.pool_stats()};
}

void Accounts::leave_out_since(const Counts& before)
{
    Counts now = counts();
    take_away(before, now.discipline, now.pool);
    left_out_.arrays += now.arrays - before.arrays;
    left_out_.bytes += now.bytes - before.bytes;
    for (const auto field : lifetime::DisciplineStats::sums) {
        left_out_.discipline.*field += now.discipline.*field;
    }
    for (const auto field : memory::PoolStats::sums) {
        left_out_.pool.*field += now.pool.*field;
    }
}

bool Accounts::take_end()
{
    const auto peak = probe_.peak_bytes();
    const auto snapshot = probe_.snapshot();
    record_.live_bytes_peak = std::max(memory_.counters.live_bytes_peak(), record_.replay.direct_live_peak);
    const Counts all = counts();
    record_.arrays = all.arrays - allocations_before_ - left_out_.arrays + record_.replay.direct_allocations;
    record_.allocated_bytes = all.bytes - bytes_before_ - left_out_.bytes + record_.replay.direct_bytes;
    record_.discipline = all.discipline;
    record_.pool = pool_stats();
    take_away(left_out_, record_.discipline, record_.pool);
    record_.stray_releases = memory_.heap.stray_releases() - strays_before_;
    count_outstanding();
    if (!snapshot || !peak) {
        return false;
    }
    record_.end_working_set_bytes = snapshot->working_set_bytes();
    record_.peak_working_set_bytes = std::max(*peak, record_.end_working_set_bytes);
    return true;
}

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

void Accounts::look_at_replay(std::chrono::nanoseconds settle, bool gives_back, const sys::Clock& clock)
{
    const Stopwatch::Pause pause = stopwatch_.pause();
    ReplayRecord& replay = record_.replay;
    const auto peak = probe_.peak_bytes();
    const auto end = probe_.snapshot();
    replay.has_ended = peak && end;
    if (replay.has_ended) {
        replay.end_bytes = without_own(end->working_set_bytes());
        replay.peak_bytes = std::max(without_own(*peak), replay.end_bytes);
        replay.anonymous_end_bytes = end->anon_bytes + end->hugetlb_bytes;
    }
    if (settle > std::chrono::nanoseconds::zero()) {
        clock.sleep_for(settle);
        const auto idle = probe_.snapshot();
        replay.was_idle = idle.has_value();
        replay.idle_bytes = idle ? without_own(idle->working_set_bytes()) : 0;
    }
    if (gives_back) {
        static_cast<void>(sys::trim_allocator());
        const auto after = probe_.snapshot();
        replay.was_asked = after.has_value();
        replay.anonymous_given_back_bytes = after ? after->anon_bytes + after->hugetlb_bytes : 0;
    }
    stopwatch_.resume(pause);
}

std::uint64_t Accounts::without_own(std::uint64_t working_set) const
{
    return working_set - std::min(working_set, record_.own_bytes);
}

memory::PoolStats Accounts::pool_stats()
{
    const memory::PoolStats stats = memory_.stack.pool_stats();
    if (stats.idle_bytes != 0) {
        const double largest = static_cast<double>(stats.largest_idle_bytes);
        record_.fragmentation = std::max(record_.fragmentation, 1 - largest / static_cast<double>(stats.idle_bytes));
    }
    return stats;
}

void Accounts::count_outstanding()
{
    const std::int64_t now = memory::steady_ns();
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

void Accounts::fill_point(PointRecord& point, const Sample& sample, std::chrono::nanoseconds now)
{
    const lifetime::DisciplineStats stats = memory_.heap.stats();
    const sys::KernelUse kernel = stopwatch_.kernel_so_far();
    point.name = sample.name;
    point.t_ns = (now - stopwatch_.started()).count();
    point.live_bytes = memory_.counters.live_bytes();
    point.floating_bytes = stats.floating_bytes;
    point.queue_depth = stats.queue_depth;
    point.idle_bytes = stats.idle_bytes + pool_stats().idle_bytes;
    point.minor_faults = kernel.minor_faults;
    point.major_faults = kernel.major_faults;
    if (sample.counters_only) {
        return;
    }
    if (const auto snapshot = probe_.snapshot()) {
        point.working_set_bytes = snapshot->working_set_bytes();
        point.huge_page_bytes = snapshot->anon_huge_bytes;
    }
}

}  // namespace memsweep::engine
