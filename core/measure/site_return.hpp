// What removing call sites of a program returns, as replays of its recording with and without them say, and whether
// that can be told.
//
// A figure is the difference of two replays, and no better than they are. How far the replay of everything is from the
// program is measured, and so is how far runs of one replay are from each other. The larger of both is the error, and a
// figure is told if it is at least ten times as much: then its error is at most a tenth.
//
// Units    bytes of the heap that the replaying process made; what is returned may be less than nothing.
// Sources  benchmarks/without_a_site.py says how often figures that are told agree with the program.
// Threads  any.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/measure/memory_ledger.hpp"

namespace memsweep::measure {

// Of the runs of one replay.
struct RunSpan {
    std::int64_t least{};
    std::int64_t median{};
    std::int64_t most{};
};
// All 0 of none.
[[nodiscard]] RunSpan span_of(std::vector<std::int64_t> runs);

// At one moment, before anything else is freed.
struct ReplayedHeap {
    RunSpan held;        // as it is
    RunSpan given_back;  // still held after the allocator was asked to give back
};

// The pages that have lain in blocks: a replay makes these, and what its allocator needs for them.
[[nodiscard]] std::uint64_t heap_bytes(const MemoryLedger& ledger);

// The replay of everything beside the program itself, at the same moment. Of what the program's allocator has besides
// blocks the replaying process has some before it begins: as much more or less is no difference.
struct ReplayCheck {
    struct AfterRequest {
        std::int64_t resident{};
        std::uint64_t measured{};
    };
    std::uint64_t resident{};
    std::uint64_t measured{};                   // of pages that have lain in blocks
    std::uint64_t never_a_block{};              // the allocator's other pages
    std::optional<AfterRequest> after_request;  // absent: the request was not tried in a copy of the program
    static constexpr double most_off = 0.05;

    [[nodiscard]] double
    off() const noexcept;  // from the nearest that is no difference, as a share of what was measured
    [[nodiscard]] bool is_usable() const noexcept { return off() <= most_off; }

    // What the replay holds more or less than pages that have lain in blocks. How many of the allocator's others are
    // among it is not known: all of it may be its error.
    [[nodiscard]] std::uint64_t error() const noexcept;
    // Likewise after the request; where none was tried, as it is.
    [[nodiscard]] std::uint64_t error_after_request() const noexcept;
};
// `returned`: by a request that was tried in a copy of the program.
[[nodiscard]] ReplayCheck replay_check(const ReplayedHeap& whole, const MemoryLedger& ledger,
                                       std::optional<std::uint64_t> returned);

struct ReturnedBytes {
    static constexpr std::uint64_t least_errors = 10;  // a figure that is told has at least as many

    std::int64_t bytes{};                         // between the medians
    std::uint64_t spread{};                       // of that, between any two runs
    std::optional<std::uint64_t> replay_error{};  // absent: nothing was measured beside the replay

    [[nodiscard]] std::uint64_t error() const noexcept;
    [[nodiscard]] bool is_told() const noexcept;
};

struct SiteReturn {
    ReturnedBytes as_it_is;
    ReturnedBytes after_request;
    std::uint32_t runs{};  // replays whose median each figure is
};
[[nodiscard]] SiteReturn site_return(const ReplayedHeap& whole, const ReplayedHeap& without, std::uint32_t runs,
                                     const std::optional<ReplayCheck>& check);

}  // namespace memsweep::measure
