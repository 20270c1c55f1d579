// A recorded process as it stood at one moment: its address space by pages, and the exact place of that moment in its
// log. Together with the trace it says where every resident page came from, even when the process is long gone.
//
// Units    bytes; addresses of that process; ticks of the stamps' clock.
// Memory   as sys::AddressSpace.
// Errors   none: parts that cannot be read are absent.
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
    end,   // the process was about to end
    time,  // while it ran
};

struct Snapshot {
    std::uint32_t process{};  // as the trace calls it
    SnapshotAt at{};
    std::uint64_t stopped_nanoseconds{};  // how long it was stopped
    ExactCut cut;                         // of that process
    sys::AddressSpace space;

    // About the program that the process had become.
    std::uint64_t start_ticks{};
    bool has_own_malloc{};
    bool has_lost_events{};
    std::string served_by;  // the end of the path of the file that malloc comes from

    // These tell the recorder's memory from the program's.
    std::string recorder_library;
    std::string recorder_folder;
};

// Writes the chunks of a snapshot, of kind `snapshot` (docs/trace-format.md). `number`: every snapshot of a process has
// another one.
[[nodiscard]] base::Expected<void> put_snapshot(const TakeBytes& take, const Snapshot& snapshot, std::uint64_t number);

// A snapshot of a trace, before it is read.
struct FoundSnapshot {
    std::uint32_t process{};
    std::uint64_t number{};
    SnapshotAt at{};
    std::uint64_t ticks{};
    std::uint64_t rss_bytes{};
    std::vector<ChunkPlace> parts;
};

// The snapshots whose parts are all there, ordered by their moment.
[[nodiscard]] std::vector<FoundSnapshot> find_snapshots(TraceFile& file);
// Absent: it is no snapshot that memsweep wrote.
[[nodiscard]] std::optional<Snapshot> read_snapshot(TraceFile& file, const FoundSnapshot& found);

}  // namespace memsweep::trace
