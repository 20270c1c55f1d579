// Runs one repetition of a compiled case somewhere, and says how it went.
//
// Implementations  WorkerExecutor: a worker process, fresh per repetition or kept (isolation none);
//                  CommandExecutor: a foreign program;
//                  InProcessExecutor: the calling process, for tests and debuggers;
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

// How to run one repetition, apart from its work.
struct RunLimits {
    std::chrono::nanoseconds timeout{};
    model::SeriesSpec series;
    bool measure_fault_cost{};
    bool drain_first{};   // collect and drain the garbage of earlier repetitions in this worker, before the baseline
    bool keeps_worker{};  // the next repetition goes into the same worker, if this one finishes
    bool counts{};        // a foreign program then runs once more, to count its allocations
};

// One of the repetitions that go at the same time.
struct Repetition {
    const CompiledCase& compiled;
    RunLimits limits;
    std::size_t place{};                   // from 0; each has another
    std::function<void(int pid)> started;  // as in Executor::run
};

class Executor {
  public:
    virtual ~Executor() = default;

    // `started` is called with the worker's pid as soon as it exists, before it begins.
    [[nodiscard]] virtual Attempt run(const CompiledCase& compiled, const RunLimits& limits,
                                      const std::function<void(int pid)>& started) = 0;

    // Runs all at the same time; returns as many attempts, in their order. A failed one does not disturb the others.
    // Only an executor of foreign programs can do this; a schedule must not ask another executor for it.
    [[nodiscard]] virtual std::vector<Attempt> run_at_once(std::span<const Repetition> repetitions);
};

}  // namespace memsweep::engine
