#include "core/engine/stopwatch.hpp"

namespace memsweep::engine {

using std::chrono::nanoseconds;

void Stopwatch::begin()
{
    faults_at_start_ = probe_.faults();
    record_.knows_run_delay = probe_.run_delay().has_value();
    started_ = clock_.now();
}

sys::FaultCounts Stopwatch::faults_so_far() const
{
    sys::FaultCounts now = probe_.faults();
    now.minor -= faults_at_start_.minor + excluded_.faults.minor;
    now.major -= faults_at_start_.major + excluded_.faults.major;
    return now;
}

Costs Stopwatch::costs_of_memory() const
{
    return {memory_.stack.call_times().program_ns(), memory_.heap.wait_ns(), 0, record_.pages_touched,
            memory_.counters.allocated_bytes()};
}

Costs Stopwatch::costs_of_thread() const
{
    Costs costs = costs_of_memory();
    costs.run_delay_ns = static_cast<std::uint64_t>(probe_.run_delay().value_or(nanoseconds{}).count());
    return costs;
}

void Stopwatch::start(std::uint64_t arrays)
{
    costs_at_watch_ = costs_of_thread() - excluded_.costs;
    running_ = true;
    arrays_at_start_ = arrays;
    cpu_at_start_ = clock_.process_cpu() - excluded_.cpu;
    faults_at_watch_ = faults_so_far();
    wall_at_start_ = clock_.now() - excluded_.wall;
}

void Stopwatch::stop(std::uint64_t arrays)
{
    const nanoseconds now = clock_.now() - excluded_.wall;
    const sys::FaultCounts faults = faults_so_far();
    const nanoseconds cpu = clock_.process_cpu() - excluded_.cpu;
    running_ = false;
    record_.wall_ns += (now - wall_at_start_).count();
    record_.cpu_ns += (cpu - cpu_at_start_).count();
    record_.minor_faults += faults.minor - faults_at_watch_.minor;
    record_.major_faults += faults.major - faults_at_watch_.major;
    record_.timed_arrays += arrays - arrays_at_start_;
    record_.costs += costs_of_thread() - excluded_.costs - costs_at_watch_;
}

Stopwatch::Pause Stopwatch::pause() const
{
    const nanoseconds wall = clock_.now();
    return {wall, clock_.process_cpu(), probe_.faults(), costs_of_thread()};
}

void Stopwatch::resume(const Pause& since)
{
    const sys::FaultCounts faults = probe_.faults();
    excluded_.faults.minor += faults.minor - since.faults.minor;
    excluded_.faults.major += faults.major - since.faults.major;
    excluded_.costs += costs_of_thread() - since.costs;
    excluded_.cpu += clock_.process_cpu() - since.cpu;
    excluded_.wall += clock_.now() - since.wall;
}

Stopwatch::PhaseStart Stopwatch::enter_phase() const
{
    const sys::FaultCounts faults = faults_so_far();
    return {clock_.now() - excluded_.wall, faults, costs_of_memory() - excluded_.costs};
}

void Stopwatch::leave_phase(PhaseRecord& phase, const PhaseStart& start) const
{
    const nanoseconds now = clock_.now();
    const sys::FaultCounts faults = faults_so_far();
    if (phase.entered++ == 0) {
        phase.first_start_ns = (start.wall + excluded_.wall - started_).count();
    }
    phase.last_end_ns = (now - started_).count();
    phase.costs += costs_of_memory() - excluded_.costs - start.costs;
    phase.time_ns += (now - excluded_.wall - start.wall).count();
    phase.minor_faults += faults.minor - start.faults.minor;
    phase.major_faults += faults.major - start.faults.major;
}

}  // namespace memsweep::engine
