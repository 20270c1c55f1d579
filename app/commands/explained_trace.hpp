// The memory of a program at a moment of its recording, which has snapshots of where that was.
//
// Cost     those of explain_moment(), and of the replays that say what removing sites returns.
// Errors   it is no trace, has no such snapshot, or has not all blocks.
#pragma once

#include <cstdint>
#include <string>

#include "app/commands/explained_run.hpp"
#include "core/base/expected.hpp"
#include "reporters/document/explanation.hpp"

namespace memsweep::app {

// Of a time the snapshot that is nearest; of the peak the one with the most.
[[nodiscard]] base::Expected<reporters::Explanation> explain_trace(const std::string& path, const AskedMoment& at,
                                                                   std::uint32_t removed_sites);

}  // namespace memsweep::app
