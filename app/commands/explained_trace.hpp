// Explains the memory of a program from a trace with snapshots.
//
// Cost     that of explain_moment() and of the replays of explained_returns.hpp.
// Errors   the file is no trace, it lacks the requested snapshot, or some blocks were left out of the recording (by
//          size or by sampling).
#pragma once

#include <cstdint>
#include <string>

#include "app/commands/explained_run.hpp"
#include "core/base/expected.hpp"
#include "reporters/document/explanation.hpp"

namespace memsweep::app {

// Explains the snapshot that `at` asks for: the one nearest to a given time, the one with the most resident memory
// (peak), or the one taken at the end.
[[nodiscard]] base::Expected<reporters::Explanation> explain_trace(const std::string& path, const AskedMoment& at,
                                                                   std::uint32_t removed_sites);

}  // namespace memsweep::app
