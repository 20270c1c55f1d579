// What a trace holds: totals, processes, sizes, lifetimes, memories; in a page live bytes over time too.
#pragma once

#include <string>

#include "core/trace/summary.hpp"
#include "reporters/document/document.hpp"

namespace memsweep::reporters {

// Says in words what could not be read; empty when all was.
[[nodiscard]] std::string damage_text(const trace::Damage& damage);

}  // namespace memsweep::reporters
