// Clauses that say why a report does not tell how much memory removing call sites returns.
#pragma once

#include <cstdint>
#include <string>

#include "core/measure/site_return.hpp"

namespace memsweep::reporters {

// "too small to tell from the replay's own 0.4 MiB", or "its 3 replays are 2.0 MiB apart"; empty: the report tells the
// figure.
[[nodiscard]] std::string untold_text(const measure::ReturnedBytes& figure, std::uint32_t runs);

// "its replay holds 30.0 MiB of heap where the program held 20.0 MiB, and more than 5 % apart says nothing of it"
[[nodiscard]] std::string unusable_text(const measure::ReplayCheck& check);

}  // namespace memsweep::reporters
