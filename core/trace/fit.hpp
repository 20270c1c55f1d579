// Finds the smallest arena (range of addresses) into which the blocks of a trace fit, for each placement policy. Also
// computes a picture of which addresses of the arena are occupied over time.
//
// Units    bytes; events are numbered from 1, as `memsweep info` counts them.
// Cost     for each policy one pass over the operations, at 10 to 200 ns per operation. If the policy depends on the
//          capacity of the arena, some 30 passes instead of one.
// Memory   24 bytes per operation, 16 bytes per stamp of the trace's clock, and the policy's own data about live
//          blocks.
#pragma once

#include <compare>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "core/trace/placement.hpp"
#include "core/trace/trace_reader.hpp"

namespace memsweep::trace {

// Identifies a memory in which a trace has blocks: the host's memory, or the memory of a device.
struct Memory {
    std::optional<std::uint32_t> device;  // number of the device; absent: the host
    friend auto operator<=>(const Memory&, const Memory&) = default;
};

// An allocation that the traced program requested and did not get.
struct RefusedRequest {
    std::uint64_t event{};
    std::uint64_t size{};
    std::uint64_t live_bytes{};  // live bytes at this request, without the request
};

// The allocations and frees of a trace. After a block was freed, a later block may get its number. A request that the
// program's allocator refused is treated as an allocation that is freed at once, because the program needed its memory.
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
    std::uint64_t granted_peak{};  // what the live peak would be if no request had been refused; at least live_peak
    bool on_device{};              // the trace has a device's memory
    std::set<Memory> memories;     // the memories that have blocks, as far as the trace says which
    std::uint64_t refusals{};
    std::optional<RefusedRequest> refused;  // the refused request with the largest sum of `size` and `live_bytes`
    std::uint64_t senseless_refusals{};     // refused requests for more memory than any machine has; not in `ops`
    std::uint64_t unknown_frees{};          // frees without an allocation in the trace, except in forked children
    std::uint64_t mapped_peak{};            // the most bytes of device segments that allocators had mapped at any time
    std::uint64_t
        impossible_event{};  // the first event with more than 64 PiB live; `ops` is then empty. 0: no such event
};

// Returns the seconds from the trace's first event to event number `event`. Absent: the trace has no times.
[[nodiscard]] std::optional<double> seconds_until(const PlacementOps& ops, std::uint64_t event);

// Makes the operations of a trace. The blocks of all processes go into one arena. If `only` is absent, the blocks of
// all memories go into this arena too; else only the blocks of the memory `only` are taken.
[[nodiscard]] PlacementOps placement_ops(TraceReader& reader, std::optional<Memory> only = std::nullopt);

struct FitFailure {
    std::uint64_t event{};  // the allocation that does not fit
    std::uint64_t size{};
    std::uint64_t live_bytes{};       // live bytes at this allocation, without it
    std::uint64_t largest_hole{};     // the largest free range of addresses at this allocation
    std::uint64_t run{};              // the run in which the allocation does not fit, from 1
    std::optional<double> seconds{};  // since the trace's first event; absent: the trace has no times
};

struct FitOptions {
    std::optional<std::uint64_t> capacity;
    std::uint64_t alignment{16};
    std::uint64_t runs{1};  // how many times all operations are done; blocks live at the end of a run are freed
};

struct PolicyFit {
    std::string_view policy;
    std::uint64_t capacity{};                     // the smallest capacity that is large enough for all runs
    double ratio{};                               // capacity / granted_peak: 1 plus the fragmentation
    std::vector<std::uint64_t> needed_after_run;  // by run: the smallest capacity for this run and all runs before it
    // If FitOptions::capacity is given: the first allocation that does not fit into that capacity; absent: everything
    // fits. If it is not given: the allocation that fails in an arena that is one byte smaller than
    // PolicyFit::capacity.
    std::optional<FitFailure> first_failure;
    // The number of an event that fits into no capacity, because the policy rounds its size up. If it is not 0, the
    // members above are not valid. 0: there is no such event.
    std::uint64_t impossible_event{};
};

[[nodiscard]] PolicyFit fit(const PlacementOps& ops, const PlacementPolicy& policy, const FitOptions& options);

// Returns the first allocation that does not fit into `capacity`. Absent: everything fits.
[[nodiscard]] std::optional<FitFailure> first_failure(const PlacementOps& ops, const PlacementPolicy& policy,
                                                      std::uint64_t capacity, const FitOptions& options);

// A picture of the arena over time, as a grid of cells. A cell stands for a range of addresses (its row) during some
// operations (its column). Its value, from 0 to 1, says which share of this range blocks occupy, as a mean over these
// operations.
//
// Cost     one pass over all operations, and a few ns for each cell in which a block lies.
// Memory   a float per cell, and 32 bytes per allocation.
struct AddressPicture {
    std::size_t columns{};            // time: each column has the same number of operations
    std::size_t rows{};               // addresses, the lowest first: each row has the same number of bytes
    std::uint64_t operations{};       // of all columns together
    std::uint64_t bytes{};            // of all rows together
    std::vector<float> taken;         // the values of the cells, column by column
    std::vector<std::uint64_t> live;  // by column: the most live bytes
    std::vector<std::uint64_t> high;  // by column: highest end of a block so far

    [[nodiscard]] float at(std::size_t column, std::size_t row) const { return taken[column * rows + row]; }
};

// Draws the picture. Absent: there are no operations, or they do not fit, or the policy depends on the capacity and
// `options` has no capacity.
[[nodiscard]] std::optional<AddressPicture> picture_addresses(const PlacementOps& ops, const PlacementPolicy& policy,
                                                              const FitOptions& options, std::size_t columns,
                                                              std::size_t rows);

}  // namespace memsweep::trace
