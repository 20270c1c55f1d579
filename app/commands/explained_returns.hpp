// Finds out how much memory an explained program would save without each of its top call sites. For each of these
// sites, replays the recording without the site's blocks.
//
// Units    bytes.
// Cost     that of SiteRemoval::without(), one time for the whole recording and one more time per site; after a minute,
//          no further site is begun.
// Errors   none: Explanation::no_returns says why nothing could be found out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/commands/site_removal.hpp"
#include "reporters/document/explanation.hpp"

namespace memsweep::app {

// The input of these replays. The trace file must not be moved or removed until the replays have ended.
struct ReturnsBasis {
    RemovalBasis removal;                     // take_returns() chooses the allocator
    std::string served_by;                    // path of the program's malloc library; of a long path, only the end
    model::Variables environment;             // the program's variables that its allocator reads
    std::vector<std::uint32_t> site_of_node;  // for each node of the trace's stacks, the number of its site
    std::vector<std::uint32_t> site_numbers;  // for each site of the explanation: its number in `site_of_node`
};

// Returns why a replay cannot be compared with the measured memory, as a clause of a sentence; empty: it can be
// compared.
[[nodiscard]] std::string why_not_checked(const measure::MemoryLedger& ledger);

// Fills in what the program would save without each of its top call sites, for `most_sites` sites at most.
void take_returns(reporters::Explanation& explanation, const ReturnsBasis& basis, std::uint32_t most_sites);

}  // namespace memsweep::app
