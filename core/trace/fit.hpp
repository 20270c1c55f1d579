// Finds the smallest capacity in which a trace fits, for each placement policy, and draws a picture of its arena.
//
// Units    bytes; events are numbered as `memsweep info` counts them, from 1.
// Cost     one pass over the operations per policy, 10 to 200 ns each; some 30 passes if growth depends on capacity.
// Memory   24 bytes an operation, 16 a stamp of the trace's clock, and what the policy keeps of live blocks.
#pragma once

#include <compare>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "core/trace/placement.hpp"
#include "core/trace/trace_reader.hpp"

namespace memsweep::trace {

// A memory in which blocks of a trace lie: a device, by its number, or the host.
struct Memory {
    std::optional<std::uint32_t> device;  // empty: the host
    friend auto operator<=>(const Memory&, const Memory&) = default;
};

// A request that was refused when the trace was made.
struct RefusedRequest {
    std::uint64_t event{};
    std::uint64_t size{};
    std::uint64_t live_bytes{};  // beside it
};

// Allocations and frees of a trace, with recycled block numbers. A refused request stands among them as one that is
// granted and freed at once, because it is part of what is needed.
struct PlacementOps {
    struct Op {
        std::uint64_t size{};  // 0 with is_free
        std::uint32_t block{};
        bool is_free{};
    };
    std::vector<Op> ops;
    std::vector<std::uint64_t> events;  // the event's number of each operation
    struct Stamp {
        std::uint64_t event{};  // the first at that time
        std::uint64_t ticks{};
    };
    std::vector<Stamp> stamps;  // wherever the clock has moved on
    std::uint64_t ticks_per_second{};
    std::uint64_t live_peak{};
    std::uint64_t granted_peak{};  // the live peak if no request had been refused; no less than live_peak
    bool on_device{};
    std::set<Memory> memories;  // those that have blocks, as far as the trace says whose they are
    std::uint64_t refusals{};
    std::optional<RefusedRequest> refused;  // the one with which most would have been live
    std::uint64_t senseless_refusals{};     // for more than any machine has; they are not among the operations
    std::uint64_t unknown_frees{};          // whose allocation is not in the trace; a forked child's do not count
    std::uint64_t mapped_peak{};            // of devices: the segments that their allocators had taken
    std::uint64_t
        impossible_event{};  // the first event with more than 64 PiB live, to which nothing is fitted; 0: none
};

// The time from the trace's first event to this one; empty: the trace tells no time.
[[nodiscard]] std::optional<double> seconds_until(const PlacementOps& ops, std::uint64_t event);

// All processes of the trace share one arena, and so do all memories, or the one that is named.
[[nodiscard]] PlacementOps placement_ops(TraceReader& reader, std::optional<Memory> only = std::nullopt);

struct FitFailure {
    std::uint64_t event{};
    std::uint64_t size{};
    std::uint64_t live_bytes{};
    std::uint64_t largest_hole{};
    std::uint64_t run{};
    std::optional<double> seconds{};  // since the trace's first event; empty: the trace tells no time
};

struct FitOptions {
    std::optional<std::uint64_t> capacity;
    std::uint64_t alignment{16};
    std::uint64_t runs{1};  // how often the operations are repeated; what a run leaves live is freed at its end
};

struct PolicyFit {
    std::string_view policy;
    std::uint64_t capacity{};
    double ratio{};  // of the capacity to the granted live peak: 1 plus the realized fragmentation
    std::vector<std::uint64_t> needed_after_run;
    // At the capacity asked for (absent: everything fits). If none was asked for, at one byte less than the smallest.
    std::optional<FitFailure> first_failure;
    // The event that fits no capacity, because its size is rounded up. Then the members above are empty. 0: none.
    std::uint64_t impossible_event{};
};

[[nodiscard]] PolicyFit fit(const PlacementOps& ops, const PlacementPolicy& policy, const FitOptions& options);

// The first operation for which a capacity is too small.
[[nodiscard]] std::optional<FitFailure> first_failure(const PlacementOps& ops, const PlacementPolicy& policy,
                                                      std::uint64_t capacity, const FitOptions& options);

// An arena over the time of a trace. A cell has the share of a stretch of addresses that is taken during a stretch of
// operations, from 0 to 1. Cost: a placement of all operations, and a few ns for each cell that a block's rectangle
// meets. Memory: a value a cell, and 32 bytes an allocation.
struct AddressPicture {
    std::size_t columns{};            // of equal numbers of operations
    std::size_t rows{};               // of equal numbers of addresses, the lowest first
    std::uint64_t operations{};       // of all columns
    std::uint64_t bytes{};            // of all rows
    std::vector<float> taken;         // column by column
    std::vector<std::uint64_t> live;  // most live bytes within each column
    std::vector<std::uint64_t> high;  // highest end of a block so far

    [[nodiscard]] float at(std::size_t column, std::size_t row) const { return taken[column * rows + row]; }
};

// If a policy depends on its capacity, the options name the capacity. Empty if the operations do not fit, or if the
// trace has none.
[[nodiscard]] std::optional<AddressPicture> picture_addresses(const PlacementOps& ops, const PlacementPolicy& policy,
                                                              const FitOptions& options, std::size_t columns,
                                                              std::size_t rows);

}  // namespace memsweep::trace
