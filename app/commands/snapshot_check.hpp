// Compares the memory of a replay with the memory that the recorded program really held, as a snapshot in the trace
// shows it.
//
// Cost     one reading of the trace, and the replay if `whole` is absent.
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
    bool is_end{};          // the end of the process; `ticks` is its time
    std::uint64_t ticks{};  // the moment, by the clock of the trace's time stamps
};

// Returns the snapshot of a process that is nearest to a moment. If the moment is the end of the process, returns the
// snapshot that was taken at the end, if the trace has one. Returns nullopt if the trace has no snapshot of the
// process. `process`: nullopt if the trace has only one process.
[[nodiscard]] base::Expected<std::optional<trace::Snapshot>>
nearest_snapshot(const std::string& trace, std::optional<std::uint32_t> process, const AskedTicks& moment);

struct SnapshotAnswer {
    std::optional<reporters::CheckedSnapshot> checked;
    std::string why_not;  // a sentence; empty if `checked` is present
};

// Compares the snapshot with a replay up to the snapshot's moment. `basis`: the trace and the allocator for this
// replay. `whole`: the result of this replay, if it was made before.
[[nodiscard]] base::Expected<SnapshotAnswer> check_with_snapshot(const trace::Snapshot& snapshot, RemovalBasis basis,
                                                                 const AskedTicks& moment,
                                                                 const std::optional<measure::ReplayedHeap>& whole,
                                                                 const sys::StopSignals& signals);

}  // namespace memsweep::app
