// A trace replayed on several allocators, pools and release modes: time against memory.
//
// A case is on the front when no other of its threads is both faster and smaller. What to take is said in words: the
// fastest, the smallest, and the one whose time and memory are together nearest to the best of each. Cases whose
// intervals of the median overlap count as equally fast.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reporters/document/case_keys.hpp"
#include "reporters/document/chart.hpp"
#include "reporters/document/table.hpp"

namespace memsweep::reporters {

// Empty, or no sentence, where no case replays.
[[nodiscard]] std::optional<Table> replay_table(const Cases& cases);
[[nodiscard]] std::optional<Table> call_times_table(const Cases& cases);  // of single calls, by size
[[nodiscard]] std::vector<std::string> replay_advice(const Cases& cases);
[[nodiscard]] std::optional<Chart> replay_chart(const Cases& cases);

}  // namespace memsweep::reporters
