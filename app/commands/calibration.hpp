// What the harness itself costs on this machine, measured in the same run and printed with every report.
#pragma once

#include <optional>

#include "core/engine/executor.hpp"
#include "core/sys/clock.hpp"

namespace memsweep::app {

// An allocate and a drop of one array through the whole engine in a worker, on the null resource: what every operation
// of a scenario is charged beyond the memory itself. Empty when the worker did not answer.
[[nodiscard]] std::optional<double> harness_seconds_per_op(engine::Executor& executor);

[[nodiscard]] double clock_read_seconds(const sys::Clock& clock);

}  // namespace memsweep::app
