// The memory that the removal of call sites would return: clauses that say why a report does not state it.
#pragma once

#include <cstdint>
#include <string>

#include "core/measure/site_return.hpp"

namespace memsweep::reporters {

// Says why the report does not state `figure`, a number of bytes: "too small to tell from the replay's own error of 0.4
// MiB", or "its 3 replays are 2.0 MiB apart". Empty: the report states it.
[[nodiscard]] std::string untold_text(const measure::ReturnedBytes& figure, std::uint32_t runs);

// Says why the report states no number at all: "its replay holds 30.0 MiB of heap where the program held 20.0 MiB, and
// more than 5 % apart says nothing of it"
[[nodiscard]] std::string unusable_text(const measure::ReplayCheck& check);

}  // namespace memsweep::reporters
