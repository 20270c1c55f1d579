// Reports how much less memory a program would need without some of its call sites. The saving is measured by replays
// of the program's trace with and without these sites. `explain` reports it for the top sites, `whatif` for the sites
// that the user names. Comments below call a text inert if inert_text() (text/escaping.hpp) has made it safe to show in
// a terminal or a page.
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

// Names the call by which a replay asks the allocator to return memory to the system: "malloc_trim".
[[nodiscard]] std::string_view request_of(measure::KnownAllocator allocator);

// A snapshot of the trace, and how well a replay of all events up to the snapshot agrees with it.
struct CheckedSnapshot {
    bool is_of_end{};          // whether it was taken at the program's end; false: the program was still running
    double seconds{};          // since the recording began
    double seconds_from_it{};  // between the snapshot and the moment that the user asked for
    measure::ReplayCheck check;
};

// The answer of `memsweep whatif`.
struct WhatIfReport {
    std::string trace;
    std::vector<std::string> asked;  // names given to --without
    std::vector<std::string> sites;  // call sites that these names match, inert
    std::string until;               // moment of the trace at which the replays end; empty: the trace's end
    std::string on;                  // the allocator, with its settings
    measure::KnownAllocator allocator{};
    std::optional<std::uint32_t> process;  // the replayed process, if the trace has several
    std::string program;                   // the program that the process ran, inert; empty: not known
    measure::ReplayedHeap whole;
    measure::ReplayedHeap without;
    std::uint32_t runs{};
    std::optional<CheckedSnapshot> checked;  // the snapshot with which the replay of the whole trace was compared
    std::string not_checked;                 // if `checked` is empty: why, as a sentence, inert
    std::vector<std::string> warnings;       // sentences, inert
};
// Returns how much memory removing the sites saves. Absent if `checked` shows that the replay of the whole trace
// differs too much from the program.
[[nodiscard]] std::optional<measure::SiteReturn> return_of(const WhatIfReport& report);
[[nodiscard]] Document document(const WhatIfReport& report);

// Adds to the document of an explanation the table of removed sites, or the reason why no site was removed. Adds
// nothing if no removal was asked for.
void add_returns(const Explanation& explanation, Document& document);

}  // namespace memsweep::reporters
