// The accounts of one repetition: its times, and the counters of its memory and of its process.
#pragma once

#include <chrono>

#include "core/engine/steps/environment.hpp"
#include "core/engine/steps/run_region.hpp"
#include "core/sys/process_probe.hpp"

namespace memsweep::engine {

// Measures times, fault counts and costs in one repetition: those of the timed steps, and those of each phase. Samples
// that are taken during a timed step or a phase are left out.
//
// Units    nanoseconds of the given clock; page faults of the process.
// Cost     at each end of the timed steps: two clock reads, a getrusage and a read of schedstat. At each end of a
//          phase: one clock read and a getrusage.
// Threads  one.
class Stopwatch {
  public:
    Stopwatch(Environment environment, const CaseMemory& memory, StepRecord& record) noexcept;

    // Call when the repetition starts.
    void begin();

    [[nodiscard]] std::chrono::nanoseconds started() const { return started_; }
    [[nodiscard]] sys::KernelUse kernel_so_far() const;

    // Call before and after timed steps. stop() adds their times and counts to the record.
    void start();

    void stop();

    [[nodiscard]] bool running() const { return running_; }

    // Code that runs between pause() and resume() is left out of every time and count.
    struct Pause {
        std::chrono::nanoseconds wall{};
        std::chrono::nanoseconds cpu{};
        sys::KernelUse kernel;
        Costs costs;
    };
    [[nodiscard]] Pause pause() const;

    void resume(const Pause& since);

    struct PhaseStart {
        std::chrono::nanoseconds wall{};
        sys::KernelUse kernel;
        Costs costs;  // all but run_delay_ns, which would cost a system call at each end of the phase
    };
    [[nodiscard]] PhaseStart enter_phase() const;

    void leave_phase(PhaseRecord& phase, const PhaseStart& start) const;

  private:
    [[nodiscard]] Costs costs_of_memory() const;

    // Returns costs_of_memory() with run_delay_ns filled in.
    [[nodiscard]] Costs costs_of_thread() const;

    const sys::Clock& clock_;
    sys::ProcessProbe& probe_;
    const CaseMemory& memory_;
    StepRecord& record_;
    std::chrono::nanoseconds started_{};
    sys::KernelUse kernel_at_start_;
    Pause excluded_;

    bool running_{};
    std::chrono::nanoseconds wall_at_start_{};
    std::chrono::nanoseconds cpu_at_start_{};
    sys::KernelUse kernel_at_watch_;
    Costs costs_at_watch_;
    std::uint64_t arrays_at_start_{};
};

// Records the counters of a repetition's memory and of its process: at the baseline (before the first step), at each
// sample, and at the end.
//
// Cost     a sample reads /proc, unless it asks for the exact counters only. No time and no fault count includes the
//          work of this class.
// Errors   take_baseline() and take_end() return false if the process could not read its own memory accounting.
// Threads  the interpreter's.
class Accounts {
  public:
    Accounts(const RunRegion& region, CaseMemory& memory, sys::ProcessProbe& probe, Stopwatch& stopwatch);

    [[nodiscard]] bool take_baseline();

    [[nodiscard]] bool take_end();

    // Takes a sample. Its own time and faults are subtracted from every time and fault count.
    void sample(const Sample& sample);

    // Call at a replay's last event, while the remaining blocks are live. Reads the resident memory up to three times:
    // now; after an idle time of `settle` (if above 0); and after the allocator was asked to return memory (if
    // `gives_back`). No measured time includes these readings.
    void look_at_replay(std::chrono::nanoseconds settle, bool gives_back, const sys::Clock& clock);

    // A replay may serve only to time its calls, because an earlier replay of the same trace has been counted already.
    // Call counts() before such a replay, and pass the result to leave_out_since() after it. Then the replay's arrays,
    // bytes, collections and use of pools are in no count.
    struct Counts {
        std::uint64_t arrays{};
        std::uint64_t bytes{};
        lifetime::DisciplineStats discipline;
        memory::PoolStats pool;
    };
    [[nodiscard]] Counts counts() const;
    void leave_out_since(const Counts& before);

  private:
    [[nodiscard]] std::uint64_t without_own(std::uint64_t working_set) const;

    static void take_away(const Counts& part, lifetime::DisciplineStats& discipline, memory::PoolStats& pool);

    // Returns the pool's counts. Also updates the highest fragmentation, so it must be called at every sample and at
    // the end.
    [[nodiscard]] memory::PoolStats pool_stats();

    // Counts the outstanding arrays (acquired and not freed), including those that earlier repetitions left in this
    // memory. Only unreachable arrays of this repetition are also counted by name.
    void count_outstanding();

    void fill_point(PointRecord& point, const Sample& sample, std::chrono::nanoseconds now);

    const RunRegion& region_;
    StepRecord& record_;
    CaseMemory& memory_;
    sys::ProcessProbe& probe_;
    Stopwatch& stopwatch_;
    std::uint64_t allocations_before_{};
    Counts left_out_;
    std::uint64_t bytes_before_{};
    std::uint64_t strays_before_{};
    std::int64_t began_ns_{};  // on the steady clock, as Block::since_ns is
};

}  // namespace memsweep::engine
