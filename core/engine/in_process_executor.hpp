// Runs repetitions in the calling process: for tests and for a debugger. A crash there is the caller's crash, a timeout
// cannot be enforced and no series is taken.
#pragma once

#include "core/engine/case_memory.hpp"
#include "core/engine/environment.hpp"
#include "core/engine/executor.hpp"

namespace memsweep::engine {

class InProcessExecutor final : public Executor {
  public:
    explicit InProcessExecutor(Environment environment) : environment_{environment} {}

    [[nodiscard]] Outcome run(const Program& program, const RunLimits& limits,
                              const std::function<void(int pid)>& started) override;

  private:
    Environment environment_;
    std::unique_ptr<Gauges> gauges_{std::make_unique<Gauges>()};
    CaseMemories memories_{*gauges_};
};

}  // namespace memsweep::engine
