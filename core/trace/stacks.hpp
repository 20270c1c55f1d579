// Counts the memory of each call stack of a trace, and of each group of stacks, each thread or each size.
//
// In an exact trace the sums over all equal the totals of the trace (summary.hpp). Live at the peak is what was live
// when the whole trace held the most for the first time. A realloc is a free and then an allocation. An allocation is
// temporary, as in heaptrack, if the next thing that its thread does to a block is to free it.
//
// If a trace has stacks only for a sample, figures are estimates. Each sampled block counts for all that it stands for,
// and blocks without a stack do not count. If the trace has the callers of all other blocks, the total is exact, and so
// are the sums by calling address. How the stacks share these is an estimate (caller_strata.hpp). The most that a group
// had at a time is exact if no address that its blocks were requested from is another group's too. Otherwise it is
// estimated from the sample, and is never more than the trace's peak.
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

// How stacks were taken, as a fact of the trace says.
struct StackSampling {
    std::uint64_t mean_bytes{};  // between two samples; 0: all allocations have stacks
    [[nodiscard]] bool is_exact() const noexcept { return mean_bytes == 0; }
    // The blocks that a block of this size stands for. In a sample the count is in parts of a block, `unit` of which
    // make one block.
    [[nodiscard]] AllocationLedger::Weight weight_of(std::uint64_t size) const;
    static constexpr std::uint64_t unit = 256;
};
inline constexpr const char* stacks_fact = "stacks";
[[nodiscard]] StackSampling sampling_of(const Facts& facts);

enum class CountedBy : std::uint8_t { stack, thread, size };

// Which blocks count as live at the peak.
// trace          the blocks that were live when the whole trace held the most.
// largest_image  the blocks of one image, the one with the largest peak of its own, at that peak. Blocks of other
//                images do not count. counts.hpp defines the peak in the same way.
enum class PeakOf : std::uint8_t { trace, largest_image };

struct ThreadName {
    std::uint32_t process{};
    std::uint32_t thread{};
    friend auto operator<=>(const ThreadName&, const ThreadName&) = default;
};

struct CountedAllocations {
    StackSampling sampling;
    AllocationFigures total;                // its own peak is the trace's
    std::vector<AllocationFigures> of;      // at a stack's node number (0: no stack), or as in `threads` or `sizes`
    std::vector<AllocationFigures> groups;  // of stacks, if they were asked for
    std::vector<bool>
        estimated_own_peaks;  // of groups, in a sample: false where the most at a time is exact all the same
    std::vector<ThreadName> threads;
    std::vector<std::uint64_t> sizes;
    std::uint64_t impossible_event{};  // as in Totals (summary.hpp)
    bool has_exact_callers{};          // sampled, but the total and the sums by calling address are exact
    [[nodiscard]] bool is_exact() const noexcept { return sampling.is_exact(); }
};

// Reads the trace from where it is to its end. To count by stack, call TraceReader::read_stacks() first. `groups` has
// the group of each node, or is empty. PeakOf::largest_image needs an exact trace, counted by stack and without groups.
[[nodiscard]] CountedAllocations count_allocations(TraceReader& reader, CountedBy by,
                                                   const std::vector<std::uint32_t>& groups = {},
                                                   PeakOf peak = PeakOf::trace);

}  // namespace memsweep::trace
