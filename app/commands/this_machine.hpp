// What this machine is, gathered once per command for the loader, the budget and the report.
#pragma once

#include <string>

#include "core/model/report.hpp"
#include "scenarios/reader/surroundings.hpp"

namespace memsweep::engine {
struct Capabilities;
}

namespace memsweep::app {

// With its fingerprint: CPU model, cores, NUMA nodes, page size, memory to 1 GiB and devices, hashed.
[[nodiscard]] model::Machine this_machine();

[[nodiscard]] scenarios::Surroundings surroundings(const model::Machine& machine);
[[nodiscard]] engine::Capabilities capabilities(const model::Machine& machine);

}  // namespace memsweep::app
