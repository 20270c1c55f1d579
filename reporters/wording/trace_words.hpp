// What a trace says of its own gaps: blocks that were left out on purpose, events that were lost, and programs that ran
// without the recorder.
#pragma once

#include <string>
#include <vector>

#include "core/trace/trace_file.hpp"

namespace memsweep::reporters {

// Returns a sentence for each gap, without a full stop. Empty: as far as the trace says, it holds every allocation.
[[nodiscard]] std::vector<std::string> gaps_of(const trace::Facts& facts);

// Adds a capital letter and a full stop: "only ..." becomes "Only ....".
[[nodiscard]] std::string sentence_of(std::string gap);

}  // namespace memsweep::reporters
