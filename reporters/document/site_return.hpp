// What removing call sites of a program returns, as replays of its trace with and without them say: of `explain`, for
// its top sites, and of `whatif`.
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

// What a replay is asked to give back by: "malloc_trim".
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
    std::vector<std::string> sites;  // that they are, inert
    std::string until;               // empty: the trace's end
    std::string on;                  // the allocator, with its settings
    measure::KnownAllocator allocator{};
    std::optional<std::uint32_t> process;  // of several, the one that is replayed
    std::string program;                   // that it ran, inert; empty: not known
    measure::ReplayedHeap whole;
    measure::ReplayedHeap without;
    std::uint32_t runs{};
    std::optional<CheckedSnapshot> checked;  // what the replay of everything was compared with
    std::string not_checked;                 // why with nothing: a sentence, inert
    std::vector<std::string> warnings;       // sentences, inert
};
// What removing the sites returns. Absent: the replay of everything is too far off the program.
[[nodiscard]] std::optional<measure::SiteReturn> return_of(const WhatIfReport& report);
[[nodiscard]] Document document(const WhatIfReport& report);

// Of an explanation: the table of sites that were removed, or why none was.
void add_returns(const Explanation& explanation, Document& document);

}  // namespace memsweep::reporters
