// A recorded process at one moment: its address space page by page, and the exact position in its log that belongs to
// the moment. Together with the trace, a snapshot tells where every resident page came from, even long after the
// process has ended.
//
// Units    bytes; addresses of that process; ticks of the stamps' clock.
// Memory   that of sys::AddressSpace.
// Errors   none: snapshots that cannot be read are left out.
// Threads  any.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/sys/mappings.hpp"
#include "core/trace/exact_cut.hpp"
#include "core/trace/trace_writer.hpp"

namespace memsweep::trace {

enum class SnapshotAt : std::uint8_t {
    end,   // taken when the process was about to end
    time,  // taken while the process ran
};

struct Snapshot {
    std::uint32_t process{};  // its number in the trace
    SnapshotAt at{};
    std::uint64_t stopped_nanoseconds{};  // how long the process was stopped for the snapshot
    ExactCut cut;                         // the moment, as a position in the process's log
    sys::AddressSpace space;

    // About the program that the process was running.
    std::uint64_t start_ticks{};
    bool has_own_malloc{};
    bool has_lost_events{};
    std::string served_by;  // the end of the path of the library whose malloc served it

    // These two paths serve to distinguish the recorder's memory from the program's.
    std::string recorder_library;
    std::string recorder_folder;
};

// Writes the chunks of a snapshot, of kind `snapshot` (docs/trace-format.md). `number` must differ between the
// snapshots of a process.
[[nodiscard]] base::Expected<void> put_snapshot(const TakeBytes& take, const Snapshot& snapshot, std::uint64_t number);

// A snapshot that was found in a trace, before it is read.
struct FoundSnapshot {
    std::uint32_t process{};
    std::uint64_t number{};
    SnapshotAt at{};
    std::uint64_t ticks{};
    std::uint64_t rss_bytes{};
    std::vector<ChunkPlace> parts;
};

// Returns the snapshots that are complete in the trace, ordered by time.
[[nodiscard]] std::vector<FoundSnapshot> find_snapshots(TraceFile& file);
// nullopt: the snapshot is malformed.
[[nodiscard]] std::optional<Snapshot> read_snapshot(TraceFile& file, const FoundSnapshot& found);

}  // namespace memsweep::trace
