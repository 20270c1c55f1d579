// Runs the probes that were asked for and makes a result of them.
#pragma once

#include <optional>
#include <string>

#include "app/options.hpp"
#include "core/base/expected.hpp"
#include "core/model/report.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/signals.hpp"

namespace memsweep::app {

// Errors   invalid_input: --nodes or --devices names one that is not there.
// "probe_bandwidth_latency": what its result calls itself.
[[nodiscard]] std::string probe_name(const ProbeCommand& command);

[[nodiscard]] base::Expected<model::RunReport> probe(const ProbeCommand& command, const GlobalOptions& global,
                                                     const sys::Clock& clock, const sys::StopSignals& signals);

}  // namespace memsweep::app
