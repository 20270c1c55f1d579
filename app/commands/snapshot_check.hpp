// Compares the replay of a whole trace with what the recorded program held, if the trace has a snapshot of that.
//
// Cost     a reading of the trace, and the replay if it has not been made yet.
// Errors   those of reading, and of SiteRemoval.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/commands/site_removal.hpp"
#include "core/base/expected.hpp"
#include "core/trace/snapshot.hpp"
#include "reporters/document/site_return.hpp"

namespace memsweep::app {

struct AskedTicks {
    bool is_end{};          // of the process
    std::uint64_t ticks{};  // by the clock of the stamps
};

// The snapshot of a process that is nearest to a moment; for the end of the process, the snapshot at the end if there
// is one. Absent: the trace has no snapshot of that process. `process` is absent if the trace has only one.
[[nodiscard]] base::Expected<std::optional<trace::Snapshot>>
nearest_snapshot(const std::string& trace, std::optional<std::uint32_t> process, const AskedTicks& moment);

struct SnapshotAnswer {
    std::optional<reporters::CheckedSnapshot> checked;
    std::string why_not;  // a sentence
};

// `basis`: of the replay of everything up to some moment; `whole`: that replay, if it ends at the snapshot's cut.
[[nodiscard]] base::Expected<SnapshotAnswer> check_with_snapshot(const trace::Snapshot& snapshot, RemovalBasis basis,
                                                                 const AskedTicks& moment,
                                                                 const std::optional<measure::ReplayedHeap>& whole,
                                                                 const sys::StopSignals& signals);

}  // namespace memsweep::app
