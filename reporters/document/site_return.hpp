// How much memory removing call sites of a program returns, shown by replays of its trace with and without them.
// `explain` reports it for its top sites, `whatif` for the sites that the user names.
//
// Units    bytes, as core/measure/site_return.hpp counts them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/measure/memory_verdict.hpp"
#include "core/measure/site_return.hpp"
#include "reporters/document/document.hpp"

namespace memsweep::reporters {

struct Explanation;

// The call by which a replay asks the allocator to return memory: "malloc_trim".
[[nodiscard]] std::string_view request_of(measure::KnownAllocator allocator);

// A snapshot of the trace, and how it agrees with a replay of everything up to it.
struct CheckedSnapshot {
    bool is_of_end{};          // false: of a moment while the program ran
    double seconds{};          // since the recording began
    double seconds_from_it{};  // distance from the moment that the user asked for
    measure::ReplayCheck check;
};

// The answer of `memsweep whatif`.
struct WhatIfReport {
    std::string trace;
    std::vector<std::string> asked;  // names given to --without
    std::vector<std::string> sites;  // call sites that they match, inert
    std::string until;               // where the replays end; empty: at the trace's end
    std::string on;                  // the allocator, with its settings
    measure::KnownAllocator allocator{};
    std::optional<std::uint32_t> process;  // the replayed process, if the trace has several
    std::string program;                   // which the process ran, inert; empty: not known
    measure::ReplayedHeap whole;
    measure::ReplayedHeap without;
    std::uint32_t runs{};
    std::optional<CheckedSnapshot> checked;  // the snapshot with which the replay of everything was compared
    std::string not_checked;                 // a sentence that says why not, inert
    std::vector<std::string> warnings;       // sentences, inert
};
// What removing the sites returns. Absent: the replay of everything differs too much from the program.
[[nodiscard]] std::optional<measure::SiteReturn> return_of(const WhatIfReport& report);
[[nodiscard]] Document document(const WhatIfReport& report);

// Adds the table of removed sites to the document of an explanation, or the reason why none was removed.
void add_returns(const Explanation& explanation, Document& document);

}  // namespace memsweep::reporters
