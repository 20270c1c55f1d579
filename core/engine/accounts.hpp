// What one repetition has taken: its times, and the counters of its memory and of its process.
#pragma once

#include <chrono>

#include "core/engine/environment.hpp"
#include "core/engine/run_region.hpp"
#include "core/sys/process_probe.hpp"

namespace memsweep::engine {

// The times, fault counts and costs of one repetition: what the timed steps took, and what each phase took, less what
// samples took of them.
//
// Units    nanoseconds of the clock it is given; page faults of the process.
// Cost     two clock reads, a getrusage and a read of schedstat where a watch begins or ends; of a phase, all but the
//          last.
// Threads  one.
class Stopwatch {
  public:
    Stopwatch(Environment environment, const CaseMemory& memory, RepetitionRecord& record) noexcept
        : clock_{environment.clock}, probe_{environment.probe}, memory_{memory}, record_{record}
    {
    }

    // The repetition starts now.
    void begin();
    [[nodiscard]] std::chrono::nanoseconds started() const { return started_; }
    [[nodiscard]] sys::FaultCounts faults_so_far() const;

    // The timed steps; adds to the record. `arrays`: made by the repetition so far.
    void start(std::uint64_t arrays);
    void stop(std::uint64_t arrays);
    [[nodiscard]] bool running() const { return running_; }

    // What runs between these two is part of no time and no count.
    struct Pause {
        std::chrono::nanoseconds wall{};
        std::chrono::nanoseconds cpu{};
        sys::FaultCounts faults;
        Costs costs;
    };
    [[nodiscard]] Pause pause() const;
    void resume(const Pause& since);

    struct PhaseStart {
        std::chrono::nanoseconds wall{};
        sys::FaultCounts faults;
        Costs costs;  // all but run_delay_ns, which would take a system call at each end
    };
    [[nodiscard]] PhaseStart enter_phase() const;
    void leave_phase(PhaseRecord& phase, const PhaseStart& start) const;

  private:
    [[nodiscard]] Costs costs_of_memory() const;
    [[nodiscard]] Costs costs_of_thread() const;  // run_delay_ns too

    const sys::Clock& clock_;
    sys::ProcessProbe& probe_;
    const CaseMemory& memory_;
    RepetitionRecord& record_;
    std::chrono::nanoseconds started_{};
    sys::FaultCounts faults_at_start_;
    Pause excluded_;

    bool running_{};
    std::chrono::nanoseconds wall_at_start_{};
    std::chrono::nanoseconds cpu_at_start_{};
    sys::FaultCounts faults_at_watch_;
    Costs costs_at_watch_;
    std::uint64_t arrays_at_start_{};
};

// What one repetition has taken: the counters of its memory and of its process at the baseline, at the end, and at the
// points between.
//
// Cost     a point reads /proc unless it asks for the exact counters only; none of it is part of any time or fault
//          count.
// Errors   false: the process could not read its own memory accounting.
// Threads  the interpreter's.
class Accounts {
  public:
    Accounts(const RunRegion& region, CaseMemory& memory, sys::ProcessProbe& probe, Stopwatch& stopwatch)
        : region_{region}, record_{region.header->record}, memory_{memory}, probe_{probe}, stopwatch_{stopwatch}
    {
    }

    [[nodiscard]] bool take_baseline();
    [[nodiscard]] bool take_end();
    void sample(const Sample& sample);

  private:
    [[nodiscard]] memory::PoolStats pool_stats();
    void count_outstanding();
    void fill_point(PointRecord& point, const Sample& sample, std::chrono::nanoseconds now);

    const RunRegion& region_;
    RepetitionRecord& record_;
    CaseMemory& memory_;
    sys::ProcessProbe& probe_;
    Stopwatch& stopwatch_;
    std::uint64_t allocations_before_{};
    std::uint64_t bytes_before_{};
    std::uint64_t strays_before_{};
    std::int64_t began_ns_{};  // of the steady clock, as the drops of blocks
};

}  // namespace memsweep::engine
