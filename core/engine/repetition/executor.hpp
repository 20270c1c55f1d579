// The interface for running one repetition of a compiled case.
//
// Implementations  WorkerExecutor: in a worker process, a new one per repetition or a kept one (isolation none);
//                  CommandExecutor: a foreign program;
//                  InProcessExecutor: in the calling process, for tests and debuggers;
//                  tests/support: a fake with invented times.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "core/engine/repetition/attempt.hpp"
#include "core/engine/repetition/compiled_case.hpp"
#include "core/model/settings.hpp"

namespace memsweep::engine {

// The options for running one repetition.
struct RunLimits {
    std::chrono::nanoseconds timeout{};
    model::SeriesSpec series;
    bool measure_fault_cost{};
    bool drain_first{};   // before the first step, collect and free all garbage of earlier repetitions
    bool keeps_worker{};  // if this repetition finishes, the next one uses the same worker
    bool counts{};        // a foreign program runs once more afterwards, to count its allocations
};

// One of several repetitions that run at the same time.
struct Repetition {
    const CompiledCase& compiled;
    RunLimits limits;
    std::size_t place{};  // which of the executor's processors it gets, from 0; each repetition needs a different one
    std::function<void(int pid)> started;  // as in Executor::run
};

class Executor {
  public:
    virtual ~Executor() = default;

    // `started` is called with the pid of the worker or program as soon as the process exists. A worker begins its
    // first step only after this call.
    [[nodiscard]] virtual Attempt run(const CompiledCase& compiled, const RunLimits& limits,
                                      const std::function<void(int pid)>& started) = 0;

    // Runs all repetitions at the same time. Returns their attempts in the same order. If one fails, the others go on.
    // Only an executor of foreign programs can do this; do not call it on another executor.
    [[nodiscard]] virtual std::vector<Attempt> run_at_once(std::span<const Repetition> repetitions);

    // Call after the last case. Undoes what the cases have set up. Returns one sentence for each problem; none: all
    // went well.
    [[nodiscard]] virtual std::vector<std::string> take_down() { return {}; }
};

}  // namespace memsweep::engine
