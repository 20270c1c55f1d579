// The process in which cases run: `memsweep worker`, which only the driver starts, or the caller's own.
#pragma once

#include <functional>
#include <memory>

#include "core/engine/repetition/executor.hpp"
#include "core/engine/steps/environment.hpp"
#include "core/engine/steps/run_region.hpp"

namespace memsweep::engine {

// Protocol  over a seqpacket socket: the driver first sends the Gauges region's descriptor, then one run region's
//           descriptor per repetition; the worker answers each with one byte. Everything else travels in the regions.
//           The socket's end, from either side, ends the worker.
// Threads   an idle thread lives beside the mutator. So locks and reference counts take their paths of multi-threaded
//           programs, and not the single-threaded short cuts of the C and C++ libraries.
// Returns the process's exit status: 0 when the driver closed the socket, 70 when the protocol was broken.
[[nodiscard]] int worker_main(int channel_fd);

// Runs repetitions in the calling process: for tests and for a debugger. A crash there is the caller's crash, a timeout
// cannot be enforced and no series is taken.
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
