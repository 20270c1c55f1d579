// What a run would do: its cases, the memory each may hold at once, and about how long it would take.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace memsweep::model {
struct Plan;
}

namespace memsweep::app {

[[nodiscard]] std::string dry_run_text(const std::vector<model::Plan>& plans, std::uint64_t budget_bytes);

}  // namespace memsweep::app
