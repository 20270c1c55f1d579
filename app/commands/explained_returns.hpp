// What removing the top call sites of an explained program returns: its recording replayed without each of them.
//
// Units    bytes.
// Cost     those of SiteRemoval for the whole, and for each site; no site is begun after a minute.
// Errors   none: why nothing is offered stands in the explanation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/commands/site_removal.hpp"
#include "reporters/document/explanation.hpp"

namespace memsweep::app {

// What explaining leaves for it. The trace stays where it is meanwhile.
struct ReturnsBasis {
    RemovalBasis removal;                     // but for the allocator
    std::string served_by;                    // the file of the program's malloc, or the end of its path
    model::Variables environment;             // of the program, for its allocator
    std::vector<std::uint32_t> site_of_node;  // by node of the trace's stacks
    std::vector<std::uint32_t> site_numbers;  // of the explanation's sites, in their order
};

// Why a replay beside what was measured would say nothing, as a clause; empty: it would.
[[nodiscard]] std::string why_not_checked(const measure::MemoryLedger& ledger);

void take_returns(reporters::Explanation& explanation, const ReturnsBasis& basis, std::uint32_t most_sites);

}  // namespace memsweep::app
