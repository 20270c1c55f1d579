// What removing call sites of a program returns, by replays of its trace with and without them. `explain` reports it
// for its top sites, `whatif` for the sites that are asked for.
//
// Units    bytes, as core/measure/site_return.hpp has them.
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

// The request by which a replay is asked to give memory back: "malloc_trim".
[[nodiscard]] std::string_view request_of(measure::KnownAllocator allocator);

// A snapshot of the trace, and the replay of everything up to it.
struct CheckedSnapshot {
    bool is_of_end{};          // else of a moment while the program ran
    double seconds{};          // since the recording began
    double seconds_from_it{};  // from the moment that is asked for, before or after
    measure::ReplayCheck check;
};

// The answer of `memsweep whatif`.
struct WhatIfReport {
    std::string trace;
    std::vector<std::string> asked;  // names of --without
    std::vector<std::string> sites;  // call sites that they match, inert
    std::string until;               // empty: the trace's end
    std::string on;                  // the allocator, with its settings
    measure::KnownAllocator allocator{};
    std::optional<std::uint32_t> process;  // the replayed one, if there are several
    std::string program;                   // that it ran, inert; empty: not known
    measure::ReplayedHeap whole;
    measure::ReplayedHeap without;
    std::uint32_t runs{};
    std::optional<CheckedSnapshot> checked;  // what the replay of everything was compared with
    std::string not_checked;                 // why it was not compared: a sentence, inert
    std::vector<std::string> warnings;       // sentences, inert
};
// What removing the sites returns. Absent: the replay of everything is too far off the program.
[[nodiscard]] std::optional<measure::SiteReturn> return_of(const WhatIfReport& report);
[[nodiscard]] Document document(const WhatIfReport& report);

// Adds to the document of an explanation the table of removed sites, or the reason why none was removed.
void add_returns(const Explanation& explanation, Document& document);

}  // namespace memsweep::reporters
