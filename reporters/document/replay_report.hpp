// A trace replayed on several allocators, pools and release modes: time against memory.
//
// A case is on the front if no other case with the same number of threads is better. A case is better if neither its
// median time nor its median memory is higher, and at least one of them is lower. If either of two cases is on a
// device's memory, only their times are compared. The case without memory (`null`) counts for nothing, and is never on
// the front. Which allocator to take is decided in core/measure/replay_verdict.hpp.
#pragma once

#include <optional>

#include "reporters/document/case_keys.hpp"
#include "reporters/document/chart.hpp"
#include "reporters/document/table.hpp"

namespace memsweep::reporters {

// Empty if no case replays.
[[nodiscard]] std::optional<Table> replay_table(const Cases& cases);
[[nodiscard]] std::optional<Table> call_times_table(const Cases& cases);  // times of single calls, by size
[[nodiscard]] std::optional<Chart> replay_chart(const Cases& cases);

}  // namespace memsweep::reporters
