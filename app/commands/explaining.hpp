// Explains the memory of a program at one moment. Uses the numbers that the kernel gave while the program was stopped
// at this moment, and the recording up to this moment.
//
// Cost     two readings of the trace, and some 10 ms for each GiB that is searched for pointers.
// Errors   those of reading the recording.
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

// What read_contents() finds in the program's memory.
struct MemoryContents {
    std::vector<measure::AddressRange> zero_parts;  // all-zero base pages of huge pages
    measure::Reachability reached;                  // for each block, in the order of addresses
};

struct ExplainedMoment {
    std::vector<std::string> command;
    std::string at;  // "end", "peak" or "time"
    const trace::Snapshot* snapshot{};
    const sys::ForeignMemory* memory{};  // the program's memory at that moment; null: not available
    const MemoryContents* contents{};    // what read_contents() found in the memory earlier; null: not read
    std::string why_no_memory;           // the reason if both are null; a sentence without its full stop
    // Asks the program's forked copy (end_snapshot.hpp) to return memory. Called after the memory has been read.
    std::function<CopyAnswer()> ask;
    OtherProcesses others;
    ReturnsBasis* returns{};  // explain_moment() fills it in, as the input of take_returns(); null: not wanted
    std::vector<std::string> warnings;  // more warnings for the explanation
};

// Says whether a recording has all blocks. If some blocks were left out, by size or by sampling, it is not known which
// blocks lie on a page.
[[nodiscard]] bool has_all_blocks(const trace::Facts& facts);

// Reads the contents of the memory. `path`: the trace that includes the snapshot's moment; it is read once.
[[nodiscard]] base::Expected<MemoryContents> read_contents(const std::string& path, const trace::Snapshot& snapshot,
                                                           const sys::ForeignMemory& memory);
// Returns the ledger of the program's resident pages: how many bytes serve which purpose. It has no call sites, and the
// contents of memory are not looked at. Reads the trace once.
[[nodiscard]] base::Expected<measure::MemoryLedger> ledger_of(const std::string& path, const trace::Snapshot& snapshot);
// Makes the whole explanation, with named call sites. Naming them may take longer than everything else.
[[nodiscard]] base::Expected<reporters::Explanation> explain_moment(const std::string& path,
                                                                    const ExplainedMoment& moment);

}  // namespace memsweep::app
