// A trace replayed on several allocators, pools and release modes: time against memory.
//
// Tables and charts mark the cases of the front. A case is on the front if no other case with the same number of
// threads is better. A case is better if neither its median time nor its median memory is higher, and at least one of
// them is lower. If either of two cases is on a device's memory, only their times are compared. The case that replays
// without memory (`null`) is compared with no other case, and is never on the front. core/measure/replay_verdict.hpp
// decides which allocator to take.
#pragma once

#include <optional>

#include "reporters/document/case_keys.hpp"
#include "reporters/document/chart.hpp"
#include "reporters/document/table.hpp"

namespace memsweep::reporters {

// Each function returns an empty result if no case replays a trace.
[[nodiscard]] std::optional<Table> replay_table(const Cases& cases);
[[nodiscard]] std::optional<Table> call_times_table(const Cases& cases);  // times of single calls, by size
[[nodiscard]] std::optional<Chart> replay_chart(const Cases& cases);

}  // namespace memsweep::reporters
