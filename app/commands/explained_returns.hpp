// Finds out what removing each of the top call sites of an explained program returns, by replaying its recording
// without that site.
//
// Units    bytes.
// Cost     those of SiteRemoval for the whole, and for each site; no site is begun after a minute.
// Errors   none: the explanation says why nothing is offered.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/commands/site_removal.hpp"
#include "reporters/document/explanation.hpp"

namespace memsweep::app {

// What the explanation hands over for these replays. The trace must stay where it is meanwhile.
struct ReturnsBasis {
    RemovalBasis removal;                     // without the allocator
    std::string served_by;                    // the file of the program's malloc, or the end of its path
    model::Variables environment;             // of the program, for its allocator
    std::vector<std::uint32_t> site_of_node;  // by node of the trace's stacks
    std::vector<std::uint32_t> site_numbers;  // of the explanation's sites, in their order
};

// Why comparing a replay with the measured memory would say nothing, as a clause; empty: it would say something.
[[nodiscard]] std::string why_not_checked(const measure::MemoryLedger& ledger);

void take_returns(reporters::Explanation& explanation, const ReturnsBasis& basis, std::uint32_t most_sites);

}  // namespace memsweep::app
