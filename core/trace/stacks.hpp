// Counts the memory that a trace allocates: by call stack and by group of stacks, by thread, or by size.
//
// If all allocations have stacks, the sums over all stacks equal the totals of the trace (summary.hpp). A block counts
// as live at the peak if it was live when the live bytes of the whole trace first reached their maximum. A realloc
// counts as a free and then an allocation. An allocation is temporary, as in heaptrack, if its thread's next call to
// the allocator frees the block.
//
// If only a sample of the allocations has stacks, the figures are estimates. Each sampled block counts for all the
// blocks that it represents, and blocks without a stack do not count. If the trace has the callers of all other blocks,
// the total and the sums by calling address are exact. How these sums are divided among the stacks is estimated
// (caller_strata.hpp). A group's own peak (the most bytes of its blocks that were live at a time) is exact if no
// calling address of its blocks also belongs to another group. Otherwise, it is estimated from the sample, and is never
// more than the trace's peak.
//
// Units    bytes, counts.
// Cost     60 ns an event.
// Memory   72 bytes a live block, 64 a stack and a group, 200 a size.
#pragma once

#include <cstdint>
#include <vector>

#include "core/trace/allocation_ledger.hpp"
#include "core/trace/live_blocks.hpp"
#include "core/trace/stack_table.hpp"
#include "core/trace/trace_reader.hpp"

namespace memsweep::trace {

// Which allocations have stacks, according to the trace's fact `stacks`.
struct StackSampling {
    std::uint64_t mean_bytes{};  // mean distance of two sampled blocks; 0: all allocations have stacks
    [[nodiscard]] bool is_exact() const noexcept { return mean_bytes == 0; }
    // How many blocks and bytes a block of this size represents. In a sample, the number of blocks may be a fraction,
    // so it is counted in parts: `unit` parts are one block.
    [[nodiscard]] AllocationLedger::Weight weight_of(std::uint64_t size) const;
    static constexpr std::uint64_t unit = 256;
};
inline constexpr const char* stacks_fact = "stacks";
[[nodiscard]] StackSampling sampling_of(const Facts& facts);

enum class CountedBy : std::uint8_t { stack, thread, size };

// Which blocks count as live at the peak.
// trace          the blocks that were live when the whole trace held the most bytes.
// largest_image  the blocks that were live at the largest peak that any image had by itself. Blocks of other images do
//                not count. counts.hpp defines the peak in the same way.
enum class PeakOf : std::uint8_t { trace, largest_image };

struct ThreadName {
    std::uint32_t process{};
    std::uint32_t thread{};
    friend auto operator<=>(const ThreadName&, const ThreadName&) = default;
};

struct CountedAllocations {
    StackSampling sampling;
    AllocationFigures total;                // of all allocations; its own peak is the trace's peak
    std::vector<AllocationFigures> of;      // by node (0: no stack), or in the order of `threads` or `sizes`
    std::vector<AllocationFigures> groups;  // by group of stacks, if groups were given
    std::vector<bool>
        estimated_own_peaks;  // by group, for a sample: whether the group's own peak is only an estimate, and not exact
    std::vector<ThreadName> threads;
    std::vector<std::uint64_t> sizes;
    std::uint64_t impossible_event{};  // as in Totals (summary.hpp)
    bool has_exact_callers{};          // a sample, but with an exact total and exact sums by calling address
    [[nodiscard]] bool is_exact() const noexcept { return sampling.is_exact(); }
};

// Reads the trace from the reader's position to its end. To count by stack, call TraceReader::read_stacks() first.
// `groups` has the number of each node's group; empty: there are no groups. PeakOf::largest_image needs an exact trace,
// counted by stack and without groups.
[[nodiscard]] CountedAllocations count_allocations(TraceReader& reader, CountedBy by,
                                                   const std::vector<std::uint32_t>& groups = {},
                                                   PeakOf peak = PeakOf::trace);

}  // namespace memsweep::trace
