// Estimates how much memory a program would save without some of its call sites, by replaying its recording with and
// without the sites. Also decides whether the estimate is good enough to be reported.
//
// The estimate is the difference of two replays. Its error is the larger of two measured distances: between the replay
// of the whole recording and the program itself, and between repeated runs of the replays. An estimate is reported if
// it is at least ten times its error.
//
// Units    bytes of heap that the replaying process added; savings may be negative.
// Sources  benchmarks/without_a_site.py measures how often reported estimates agree with the program.
// Threads  any.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/measure/memory_ledger.hpp"

namespace memsweep::measure {

// The least, the median and the largest value of the runs of one replay.
struct RunSpan {
    std::int64_t least{};
    std::int64_t median{};
    std::int64_t most{};
};
// Returns zeros if there are no runs.
[[nodiscard]] RunSpan span_of(std::vector<std::int64_t> runs);

// The heap of a replay at its end, before the blocks that are still live are freed.
struct ReplayedHeap {
    RunSpan held;        // resident
    RunSpan given_back;  // still resident after the allocator was asked to return free memory to the system
};

// Returns the bytes of those heap pages of the program that were part of a block at some time. A replay has such pages
// too, so replay and program can be compared.
[[nodiscard]] std::uint64_t heap_bytes(const MemoryLedger& ledger);

// Compares the replay of the whole recording with the program itself, at the same point of the program. The program's
// allocator also has pages that were never part of a block. The replay has an unknown part of these pages too. So the
// replay agrees with the program if its heap has from `measured` to `measured + never_a_block` bytes.
struct ReplayCheck {
    struct AfterRequest {
        std::int64_t resident{};
        std::uint64_t measured{};
    };
    std::uint64_t resident{};                   // heap of the replay
    std::uint64_t measured{};                   // in the program: pages that were part of a block at some time
    std::uint64_t never_a_block{};              // in the program: the allocator's other pages
    std::optional<AfterRequest> after_request;  // absent: no copy of the program was asked to return free memory
    static constexpr double most_off = 0.05;

    [[nodiscard]] double
    off() const noexcept;  // distance of `resident` from the range that agrees, as a share of `measured`
    [[nodiscard]] bool is_usable() const noexcept { return off() <= most_off; }

    // The distance between `resident` and `measured`. How much of this distance comes from the allocator's other pages
    // is not known, so all of it counts as error.
    [[nodiscard]] std::uint64_t error() const noexcept;
    // As error(), but after the request to return free memory. If there was no request, returns error().
    [[nodiscard]] std::uint64_t error_after_request() const noexcept;
};
// `returned`: the bytes that a copy of the program returned when asked to return free memory.
[[nodiscard]] ReplayCheck replay_check(const ReplayedHeap& whole, const MemoryLedger& ledger,
                                       std::optional<std::uint64_t> returned);

struct ReturnedBytes {
    static constexpr std::uint64_t least_errors = 10;  // an estimate is reported if it is this many times its error

    std::int64_t bytes{};                         // the saving: the median with the sites less the median without them
    std::uint64_t spread{};                       // the range of this difference over all pairs of single runs
    std::optional<std::uint64_t> replay_error{};  // absent: the program itself was not measured

    [[nodiscard]] std::uint64_t error() const noexcept;
    [[nodiscard]] bool is_told() const noexcept;  // whether the estimate is good enough to be reported
};

struct SiteReturn {
    ReturnedBytes as_it_is;
    ReturnedBytes after_request;  // after the allocator was asked to return free memory
    std::uint32_t runs{};         // replays of each kind; each median is over this number
};
[[nodiscard]] SiteReturn site_return(const ReplayedHeap& whole, const ReplayedHeap& without, std::uint32_t runs,
                                     const std::optional<ReplayCheck>& check);

}  // namespace memsweep::measure
