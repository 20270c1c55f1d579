// What sharing a worker costs, case by case: alone against inside the sweep.
#pragma once

#include <optional>

#include "reporters/document/case_keys.hpp"
#include "reporters/document/table.hpp"

namespace memsweep::reporters {

// One row per case of a sweep that has its like placed alone: both times, their ratio, faults, time per fault. Empty
// when there is none.
[[nodiscard]] std::optional<Table> placement_table(const Cases& cases);

}  // namespace memsweep::reporters
