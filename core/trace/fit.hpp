// Finds the smallest arena (range of addresses) into which the blocks of a trace fit, for each placement policy. Also
// makes a picture of the arena over time.
//
// Units    bytes; events are numbered from 1, as `memsweep info` counts them.
// Cost     for each policy one pass over the operations, at 10 to 200 ns per operation. If the policy depends on the
//          capacity, some 30 passes.
// Memory   24 bytes per operation, 16 per stamp of the trace's clock, and what the policy keeps for live blocks.
#pragma once

#include <compare>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "core/trace/placement.hpp"
#include "core/trace/trace_reader.hpp"

namespace memsweep::trace {

// A memory that holds blocks of a trace: the memory of the host or of a device.
struct Memory {
    std::optional<std::uint32_t> device;  // number of the device; absent: the host
    friend auto operator<=>(const Memory&, const Memory&) = default;
};

// An allocation that was refused in the traced program.
struct RefusedRequest {
    std::uint64_t event{};
    std::uint64_t size{};
    std::uint64_t live_bytes{};  // live at that moment, without this request
};

// Allocations and frees of a trace. A block number is used again after its block was freed. A refused request is
// treated as an allocation that is freed at once, because the program needed that memory.
struct PlacementOps {
    struct Op {
        std::uint64_t size{};
        std::uint32_t block{};
        bool is_free{};
    };
    std::vector<Op> ops;
    std::vector<std::uint64_t> events;  // by operation: the number of its event
    struct Stamp {
        std::uint64_t event{};  // the first event with these ticks
        std::uint64_t ticks{};
    };
    std::vector<Stamp> stamps;  // one for each value of the clock
    std::uint64_t ticks_per_second{};
    std::uint64_t live_peak{};
    std::uint64_t granted_peak{};  // the live peak if no request had been refused; at least live_peak
    bool on_device{};              // the trace has a device's memory
    std::set<Memory> memories;     // memories with blocks, as far as the trace defines them
    std::uint64_t refusals{};
    std::optional<RefusedRequest> refused;  // the refused request with the largest sum of `size` and `live_bytes`
    std::uint64_t senseless_refusals{};     // refused requests for more than any machine has; not among the operations
    std::uint64_t unknown_frees{};          // frees without an allocation in the trace, except in forked children
    std::uint64_t mapped_peak{};            // the most bytes of device segments that allocators had mapped at any time
    std::uint64_t
        impossible_event{};  // the first event with more than 64 PiB live; there are then no operations. 0: none
};

// The time from the trace's first event to this one; absent: the trace has no times.
[[nodiscard]] std::optional<double> seconds_until(const PlacementOps& ops, std::uint64_t event);

// Makes the operations of a trace. All processes share one arena. If `only` is absent, all memories share the arena
// too; else only the blocks of that memory are taken.
[[nodiscard]] PlacementOps placement_ops(TraceReader& reader, std::optional<Memory> only = std::nullopt);

struct FitFailure {
    std::uint64_t event{};  // the allocation that does not fit
    std::uint64_t size{};
    std::uint64_t live_bytes{};       // live at that moment, without this allocation
    std::uint64_t largest_hole{};     // largest free range of addresses at that moment
    std::uint64_t run{};              // the run in which it does not fit, counted from 1
    std::optional<double> seconds{};  // since the trace's first event; absent: the trace has no times
};

struct FitOptions {
    std::optional<std::uint64_t> capacity;
    std::uint64_t alignment{16};
    std::uint64_t runs{1};  // how often all operations are done; blocks that are live at the end of a run are freed
};

struct PolicyFit {
    std::string_view policy;
    std::uint64_t capacity{};                     // the smallest one that is large enough for all runs
    double ratio{};                               // capacity / granted_peak: 1 plus the fragmentation
    std::vector<std::uint64_t> needed_after_run;  // by run: the smallest capacity for this run and all runs before it
    // With FitOptions::capacity: the first allocation that does not fit in it; absent: everything fits. Without it: the
    // allocation that fails if the arena is one byte smaller than `capacity`.
    std::optional<FitFailure> first_failure;
    // An event that fits into no capacity, because the policy rounds its size up. The figures above are then not valid.
    // 0: there is no such event.
    std::uint64_t impossible_event{};
};

[[nodiscard]] PolicyFit fit(const PlacementOps& ops, const PlacementPolicy& policy, const FitOptions& options);

// The first operation that does not fit into a capacity; absent: everything fits.
[[nodiscard]] std::optional<FitFailure> first_failure(const PlacementOps& ops, const PlacementPolicy& policy,
                                                      std::uint64_t capacity, const FitOptions& options);

// A picture of the arena over time, as a grid. The value of a cell, from 0 to 1, is the share of its addresses that
// blocks occupy during its operations.
//
// Cost     a placement of all operations, and a few ns for each cell that the rectangle of a block overlaps.
// Memory   a float per cell, and 32 bytes per allocation.
struct AddressPicture {
    std::size_t columns{};            // time: each column has the same number of operations
    std::size_t rows{};               // addresses, the lowest first: each row has the same number of bytes
    std::uint64_t operations{};       // of all columns together
    std::uint64_t bytes{};            // of all rows together
    std::vector<float> taken;         // the values of the cells, column by column
    std::vector<std::uint64_t> live;  // by column: most live bytes
    std::vector<std::uint64_t> high;  // by column: highest end of a block so far

    [[nodiscard]] float at(std::size_t column, std::size_t row) const { return taken[column * rows + row]; }
};

// Absent: there are no operations, or they do not fit, or the policy depends on the capacity and `options` has none.
[[nodiscard]] std::optional<AddressPicture> picture_addresses(const PlacementOps& ops, const PlacementPolicy& policy,
                                                              const FitOptions& options, std::size_t columns,
                                                              std::size_t rows);

}  // namespace memsweep::trace
