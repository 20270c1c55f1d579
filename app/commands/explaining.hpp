// Explains the memory of a program at one moment, from what the kernel reported while it was stopped, and from what the
// recorder had written by then.
//
// Cost     two readings of the trace, and some 10 ms for each GiB that is searched for pointers.
// Errors   those of the recording, and of reading it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/commands/end_snapshot.hpp"
#include "app/commands/explained_returns.hpp"
#include "core/base/expected.hpp"
#include "core/measure/reachability.hpp"
#include "core/trace/snapshot.hpp"
#include "reporters/document/explanation.hpp"

namespace memsweep::app {

// What is found in the program's memory.
struct MemoryContents {
    std::vector<measure::AddressRange> zero_parts;  // of huge pages
    measure::Reachability reached;                  // by block, in the order of their addresses
};

struct ExplainedMoment {
    std::vector<std::string> command;
    std::string at;  // "end", "peak" or "time"
    const trace::Snapshot* snapshot{};
    const sys::ForeignMemory* memory{};  // as it was then; null: it is not there
    const MemoryContents* contents{};    // what was found in it before; null: nothing was looked for
    std::string why_no_memory;           // if both are null, why; a sentence without its full stop
    std::function<CopyAnswer()> ask;     // called once the memory has been read
    OtherProcesses others;
    ReturnsBasis* returns{};            // gets the basis for removing call sites; null: nobody asks
    std::vector<std::string> warnings;  // further ones
};

// Whether a recording has all blocks. If it left out some, by size or by chance, it is not known what lies on a page.
[[nodiscard]] bool has_all_blocks(const trace::Facts& facts);

// `path`: a trace that has the moment. Reads it once.
[[nodiscard]] base::Expected<MemoryContents> read_contents(const std::string& path, const trace::Snapshot& snapshot,
                                                           const sys::ForeignMemory& memory);
// The ledger of the program's resident pages, without call sites and without the contents of memory. Reads the trace
// once.
[[nodiscard]] base::Expected<measure::MemoryLedger> ledger_of(const std::string& path, const trace::Snapshot& snapshot);
// Names call sites, too, which may take longer than all else.
[[nodiscard]] base::Expected<reporters::Explanation> explain_moment(const std::string& path,
                                                                    const ExplainedMoment& moment);

}  // namespace memsweep::app
