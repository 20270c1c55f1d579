// A trace replayed on several allocators, pools and release modes: time against memory.
//
// A case is on the front if no other case with as many threads has lower medians of both time and memory. The advice
// itself is a finding: core/measure/replay_verdict.hpp.
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
