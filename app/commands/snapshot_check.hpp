// The replay of everything beside what a recorded program held, where its trace has a snapshot of that.
//
// Cost     a reading of the trace, and the replay, where that has not been made.
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

// Of one process the snapshot nearest to a moment; of its end that of the end, where there is one. Absent: the trace
// has none of that process. The process is absent where the trace has only one.
[[nodiscard]] base::Expected<std::optional<trace::Snapshot>>
nearest_snapshot(const std::string& trace, std::optional<std::uint32_t> process, const AskedTicks& moment);

struct SnapshotAnswer {
    std::optional<reporters::CheckedSnapshot> checked;
    std::string why_not;  // a sentence
};

// `basis`: of the replay of everything up to some moment; `whole`: its replay, where it is up to the snapshot's cut.
[[nodiscard]] base::Expected<SnapshotAnswer> check_with_snapshot(const trace::Snapshot& snapshot, RemovalBasis basis,
                                                                 const AskedTicks& moment,
                                                                 const std::optional<measure::ReplayedHeap>& whole,
                                                                 const sys::StopSignals& signals);

}  // namespace memsweep::app
