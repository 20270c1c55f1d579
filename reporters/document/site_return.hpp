// What removing call sites of a program returns, as replays of its trace with and without them say: of `explain`, for
// its top sites, and of `whatif`.
//
// Units    bytes of the heap that the replaying process made; what is returned may be less than nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/measure/memory_verdict.hpp"
#include "reporters/document/document.hpp"

namespace memsweep::reporters {

struct Explanation;

// At one moment, before anything else is freed.
struct HeapFigures {
    std::int64_t held{};        // as it is
    std::int64_t given_back{};  // still held after the allocator was asked to give back
};

struct SiteReturn {
    std::int64_t returns{};
    std::int64_t returns_after_request{};
    std::uint32_t runs{};  // replays whose median each figure is
};
[[nodiscard]] SiteReturn site_return(const HeapFigures& whole, const HeapFigures& without, std::uint32_t runs);

// The replay of everything beside the program itself, at the same moment. Of what the program's allocator has besides
// blocks the replaying process has some before it begins: as much more or less is no difference.
struct ReplayCheck {
    std::uint64_t resident{};
    std::uint64_t measured{};       // of pages that have lain in blocks
    std::uint64_t never_a_block{};  // the allocator's other pages
    static constexpr double most_off = 0.05;

    [[nodiscard]] double
    off() const noexcept;  // from the nearest that is no difference, as a share of what was measured
    [[nodiscard]] bool is_usable() const noexcept { return off() <= most_off; }
};

// What a replay is asked to give back by: "malloc_trim".
[[nodiscard]] std::string_view request_of(measure::KnownAllocator allocator);

// The answer of `memsweep whatif`.
struct WhatIfReport {
    std::string trace;
    std::vector<std::string> asked;  // names of --without
    std::vector<std::string> sites;  // that they are, inert
    std::string until;               // empty: the trace's end
    std::string on;                  // the allocator, with its settings
    measure::KnownAllocator allocator{};
    HeapFigures whole;
    HeapFigures without;
    std::uint32_t runs{};
    std::vector<std::string> warnings;  // sentences, inert
};
[[nodiscard]] Document document(const WhatIfReport& report);

// Of an explanation: the table of sites that were removed, or why none was.
void add_returns(const Explanation& explanation, Document& document);

}  // namespace memsweep::reporters
