#include "core/engine/repetition/executor.hpp"

#include "core/base/assert.hpp"

namespace memsweep::engine {

std::vector<Attempt> Executor::run_at_once(std::span<const Repetition> /*repetitions*/)
{
    MEMSWEEP_ASSERT(false, "only foreign programs run at the same time");
    return {};
}

}  // namespace memsweep::engine
