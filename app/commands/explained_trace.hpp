// Explains the memory of a program from a trace that has snapshots of it.
//
// Cost     those of explain_moment(), and of the replays that say what removing sites returns.
// Errors   the file is no trace, has no such snapshot, or lacks some of the blocks.
#pragma once

#include <cstdint>
#include <string>

#include "app/commands/explained_run.hpp"
#include "core/base/expected.hpp"
#include "reporters/document/explanation.hpp"

namespace memsweep::app {

// Explains one snapshot: the one nearest to a time; for the peak, the one with the most resident memory.
[[nodiscard]] base::Expected<reporters::Explanation> explain_trace(const std::string& path, const AskedMoment& at,
                                                                   std::uint32_t removed_sites);

}  // namespace memsweep::app
