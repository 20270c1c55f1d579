// Says how much memory removing call sites of a program returns, and whether the figure is good enough to tell. It goes
// by replays of the recording with and without the sites.
//
// A figure is the difference of two replays, and no better than they are. Two things are measured: how far the replay
// of everything is from the program, and how far the runs of one replay are apart. The larger one is the error. A
// figure is told if it is at least ten times the error, so it is at most a tenth off.
//
// Units    bytes of the heap that the replaying process made; what is returned may be negative.
// Sources  benchmarks/without_a_site.py says how often figures that are told agree with the program.
// Threads  any.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/measure/memory_ledger.hpp"

namespace memsweep::measure {

// The least, median and most of the runs of one replay.
struct RunSpan {
    std::int64_t least{};
    std::int64_t median{};
    std::int64_t most{};
};
// All are 0 if there are no runs.
[[nodiscard]] RunSpan span_of(std::vector<std::int64_t> runs);

// The heap of a replay at one moment, before anything else is freed.
struct ReplayedHeap {
    RunSpan held;        // as it is
    RunSpan given_back;  // still held after the allocator was asked to give back
};

// The bytes of pages that lay in blocks at some time. A replay has these, and what its allocator needs for them.
[[nodiscard]] std::uint64_t heap_bytes(const MemoryLedger& ledger);

// Compares the replay of everything with the program itself, at the same moment. The program's allocator also has pages
// that were never in a block. The replaying process has some of them before it begins, so a difference of up to that
// many bytes is none.
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
    off() const noexcept;  // distance to the nearest value that is no difference, as a share of what was measured
    [[nodiscard]] bool is_usable() const noexcept { return off() <= most_off; }

    // How much more or less the replay holds than the pages that lay in blocks. It is not known how many of the
    // allocator's other pages are in the replay, so all of the difference may be error.
    [[nodiscard]] std::uint64_t error() const noexcept;
    // The same after the request. If none was tried, error().
    [[nodiscard]] std::uint64_t error_after_request() const noexcept;
};
// `returned`: the bytes that a request returned in a copy of the program.
[[nodiscard]] ReplayCheck replay_check(const ReplayedHeap& whole, const MemoryLedger& ledger,
                                       std::optional<std::uint64_t> returned);

struct ReturnedBytes {
    static constexpr std::uint64_t least_errors = 10;  // a figure is told if it is at least as many errors large

    std::int64_t bytes{};                         // between the medians
    std::uint64_t spread{};                       // how far it may differ between any two runs
    std::optional<std::uint64_t> replay_error{};  // absent: nothing was measured beside the replay

    [[nodiscard]] std::uint64_t error() const noexcept;
    [[nodiscard]] bool is_told() const noexcept;
};

struct SiteReturn {
    ReturnedBytes as_it_is;
    ReturnedBytes after_request;
    std::uint32_t runs{};  // each figure is the median of so many replays
};
[[nodiscard]] SiteReturn site_return(const ReplayedHeap& whole, const ReplayedHeap& without, std::uint32_t runs,
                                     const std::optional<ReplayCheck>& check);

}  // namespace memsweep::measure
