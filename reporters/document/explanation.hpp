// The report of `memsweep explain`: where the memory of a stopped program comes from, what would give it back, and
// which call sites left it behind.
//
// Units    bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/measure/memory_ledger.hpp"
#include "core/measure/memory_verdict.hpp"
#include "reporters/document/document.hpp"
#include "reporters/document/site_return.hpp"

namespace memsweep::reporters {

struct ExplainedSite {
    std::string place;               // "parse_row (table.cpp:210)", inert; empty: it has no stack
    std::string function;            // likewise
    std::vector<std::string> stack;  // places, the innermost first, inert
    measure::HeldBySite figures;
    std::uint64_t unreachable{};  // of what is live
    measure::SiteGrowth growth{};
    double bytes_per_second{};  // of what grows
    std::optional<measure::SiteReturn> without;
};

struct Explanation {
    std::vector<std::string> command;
    measure::KnownAllocator allocator{};
    std::string allocator_file;  // inert
    std::uint64_t event{};       // that the recording had then
    double seconds{};            // since the recording began
    std::string at;              // the moment: "end", "peak", "time"
    double stopped_seconds{};    // how long the program was stopped for it
    std::string ended_by;        // "exit code 0"; empty: not known
    measure::MemoryLedger ledger;
    std::uint64_t page_bytes{4096};
    std::uint64_t pss_bytes{};
    std::uint64_t anonymous_bytes{};
    std::uint64_t page_tables_bytes{};
    std::uint64_t unreachable_bytes{};
    bool has_reachability{};  // whether it could be looked for
    measure::TriedRequest tried;
    std::vector<measure::AllocatorFigure> allocator_says;  // in a copy of the program
    measure::MemoryVerdict verdict;
    std::vector<ExplainedSite> sites;  // sites that have memory, the most first; the ledger numbers them differently
    std::optional<std::size_t> main_site;
    std::optional<measure::ReplayCheck> replay_check;  // of the whole trace, if it was replayed
    std::string no_returns;                            // why no site was removed; empty: some were, or nobody asked
    bool is_one_of_several{};                          // the program has started others, which may be what matters
    std::vector<std::string> warnings;                 // inert
};

// glibc's own figure for the blocks that it mapped one by one.
inline constexpr std::string_view mapped_blocks_figure = "hblkhd";
// What a figure counts, and what its difference from the ledger is.
[[nodiscard]] std::string_view meaning_of_figure(std::string_view name);

// Three sentences: what it is; what a request returns; who left it behind and which setting changes it.
[[nodiscard]] std::vector<std::string> headlines_of(const Explanation& explanation);
// What a category is called, for people.
[[nodiscard]] std::string_view category_words(measure::MemoryCategory category);

[[nodiscard]] Document document(const Explanation& explanation);

}  // namespace memsweep::reporters
