// The report of `memsweep explain`: where the memory of a stopped program comes from, what would return this memory to
// the system, and which call sites left it behind. Comments below call a text inert if inert_text() (text/escaping.hpp)
// has made it safe to show in a terminal or a page.
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
    std::string place;               // "parse_row (table.cpp:210)", inert; empty: no stack
    std::string function;            // inert; empty: no stack
    std::vector<std::string> stack;  // places, the innermost first, inert
    measure::HeldBySite figures;
    std::uint64_t unreachable{};  // live bytes to which no pointer is left
    measure::SiteGrowth growth{};
    double bytes_per_second{};  // how fast its live bytes grow
    std::optional<measure::SiteReturn> without;
};

struct Explanation {
    std::vector<std::string> command;
    measure::KnownAllocator allocator{};
    std::string allocator_file;  // inert
    std::uint64_t event{};       // number of events recorded up to the examined moment
    double seconds{};            // since the recording began
    std::string at;              // the moment that was examined: "end", "peak", "time"
    double stopped_seconds{};    // how long memsweep stopped the program to examine it
    std::string ended_by;        // "exit code 0"; empty: not known
    measure::MemoryLedger ledger;
    std::uint64_t page_bytes{4096};
    std::uint64_t pss_bytes{};
    std::uint64_t anonymous_bytes{};
    std::uint64_t page_tables_bytes{};
    std::uint64_t unreachable_bytes{};
    bool has_reachability{};  // whether `unreachable_bytes` could be determined
    measure::TriedRequest tried;
    std::vector<measure::AllocatorFigure> allocator_says;  // from calls in a forked copy of the program
    measure::MemoryVerdict verdict;
    std::vector<ExplainedSite> sites;  // sites with memory, the largest first; `ledger` numbers its sites differently
    std::optional<std::size_t> main_site;              // index in `sites`; empty: none
    std::optional<measure::ReplayCheck> replay_check;  // how well a replay of the trace agrees; empty: not replayed
    std::string no_returns;    // why no replay without a site was made; empty: one was made, or none was asked for
    bool is_one_of_several{};  // the program started other programs, which may hold more memory
    std::vector<std::string> warnings;  // inert
};

// The name of glibc's statistic for the bytes in blocks that have a mapping of their own.
inline constexpr std::string_view mapped_blocks_figure = "hblkhd";
// Says what the allocator's own statistic of this name counts, and why it differs from the ledger.
[[nodiscard]] std::string_view meaning_of_figure(std::string_view name);

// Returns two or three sentences. The first says what the memory is. The second says how much of this memory the
// allocator returns to the system when it is asked to. The third, if there is one, says which sites left the memory
// behind, and which setting changes this.
[[nodiscard]] std::vector<std::string> headlines_of(const Explanation& explanation);
// Names a category of memory in words for people.
[[nodiscard]] std::string_view category_words(measure::MemoryCategory category);

[[nodiscard]] Document document(const Explanation& explanation);

}  // namespace memsweep::reporters
