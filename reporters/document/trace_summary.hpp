// The contents of a trace: totals, processes, sizes, lifetimes, memories; a page also has live bytes over time.
#pragma once

#include <string>

#include "core/trace/summary.hpp"
#include "reporters/document/document.hpp"

namespace memsweep::reporters {

// Says in words what could not be read of a trace; empty if everything could be read.
[[nodiscard]] std::string damage_text(const trace::Damage& damage);

}  // namespace memsweep::reporters
