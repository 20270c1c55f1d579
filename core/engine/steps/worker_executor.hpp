// Runs repetitions in worker processes and watches them from outside.
//
// While a repetition runs, the driver (the process of this object) samples the worker's resident set from /proc and its
// live bytes from the shared counters, at the case's interval. The worker itself has no work with these series.
//
// Units    series times are seconds since the repetition's first step (CLOCK_MONOTONIC of both processes is one clock).
// Errors   if a worker dies, hangs past the timeout or breaks the protocol, the Attempt says so; run() never throws.
// Threads  one. The calling thread polls the worker's socket and the stop signals, and samples at each interval.
// Ownership  a worker never outlives its executor. However the driver dies, the worker dies too (PR_SET_PDEATHSIG).
#pragma once

#include <optional>
#include <string>

#include "core/array/streaming.hpp"
#include "core/engine/repetition/executor.hpp"
#include "core/engine/steps/run_region.hpp"
#include "core/sys/cgroup_memory.hpp"
#include "core/sys/child_process.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/interprocess.hpp"
#include "core/sys/signals.hpp"

namespace memsweep::engine {

class WorkerExecutor final : public Executor {
  public:
    struct Options {
        std::vector<std::string> worker_command;  // the executable and its arguments; the socket's number is appended
        model::Isolation isolation{model::Isolation::process};
        array::StreamingSizes streaming{array::streams_from()};  // sizes from which concatenations stream their writes
    };

    WorkerExecutor(Options options, const sys::Clock& clock, const sys::StopSignals& signals);
    WorkerExecutor(const WorkerExecutor&) = delete;
    WorkerExecutor& operator=(const WorkerExecutor&) = delete;
    ~WorkerExecutor() override;

    [[nodiscard]] Attempt run(const CompiledCase& compiled, const RunLimits& limits,
                              const std::function<void(int pid)>& started) override;

  private:
    struct Worker {
        sys::ChildProcess process;
        sys::Channel channel;
        sys::SharedRegion gauges;
        model::AllocatorSpec allocator;
        sys::OomKills oom_kills;  // counted just after the worker was started
        bool driver_is_open{};
    };

    void end_worker();
    [[nodiscard]] base::Expected<void> ensure_worker(const model::AllocatorSpec& allocator);
    void watch(const RunRegion& region, const RunLimits& limits, Attempt& attempt);
    void finish(const RunRegion& region, const RunLimits& limits, Attempt& attempt);

    Options options_;
    const sys::Clock& clock_;
    const sys::StopSignals& signals_;
    std::optional<Worker> worker_;
    bool looked_for_left_{};  // has already removed the files that killed drivers left in /dev/shm
};

}  // namespace memsweep::engine
