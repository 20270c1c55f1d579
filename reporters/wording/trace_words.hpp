// What a trace says of its own gaps: blocks that were not recorded on purpose, events that were lost, and programs that
// ran without the recorder.
#pragma once

#include <string>
#include <vector>

#include "core/trace/trace_file.hpp"

namespace memsweep::reporters {

// A sentence for each gap, without a full stop. Empty: the trace holds every allocation, as far as it knows.
[[nodiscard]] std::vector<std::string> gaps_of(const trace::Facts& facts);

// "only ..." as "Only ....".
[[nodiscard]] std::string sentence_of(std::string gap);

}  // namespace memsweep::reporters
