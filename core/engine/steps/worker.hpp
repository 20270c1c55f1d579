// Runs cases in one of two processes: in `memsweep worker`, which the driver (the memsweep process that runs the plan)
// starts, or in the calling process.
#pragma once

#include <functional>
#include <memory>

#include "core/engine/repetition/executor.hpp"
#include "core/engine/steps/environment.hpp"
#include "core/engine/steps/run_region.hpp"

namespace memsweep::engine {

// Runs the repetitions that the driver asks for, one after another.
//
// Protocol  over a seqpacket socket: the driver first sends the descriptor of the Gauges region, then the descriptor of
//           one run region per repetition. The worker answers each run region with one byte. Everything else is passed
//           in the regions. The worker ends when the driver closes the socket.
// Threads   the process has an idle thread, so that it is multi-threaded. Otherwise the C and C++ libraries would use
//           the faster locks and reference counts of programs with a single thread.
// Returns the process's exit status: 0 if the socket was closed, 70 if the protocol was broken or the worker could not
// read its own files in /proc.
[[nodiscard]] int worker_main(int channel_fd);

// Runs repetitions in the calling process, for tests and for debugging. A crash of a case crashes the caller, timeouts
// are not enforced, and no series is taken.
class InProcessExecutor final : public Executor {
  public:
    explicit InProcessExecutor(Environment environment) : environment_{environment} {}

    [[nodiscard]] Attempt run(const CompiledCase& compiled, const RunLimits& limits,
                              const std::function<void(int pid)>& started) override;

  private:
    Environment environment_;
    std::unique_ptr<Gauges> gauges_{std::make_unique<Gauges>()};
    CaseMemories memories_{*gauges_};
};

}  // namespace memsweep::engine
