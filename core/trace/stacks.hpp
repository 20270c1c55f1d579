// What each call stack of a trace, and each group of them, each thread or each size, has of its memory.
//
// Of an exact trace the sums over all equal the totals of the trace (summary.hpp). Live at the peak is what was live at
// the moment at which the whole trace held the most for the first time. A realloc is a free and then an allocation.
// An allocation is temporary, as in heaptrack, where the next thing that its thread does to a block is to free it.
//
// Of a trace that has the stacks of a sample, figures are estimates: each block that was sampled counts for all that
// it stands for, and those without a stack for nothing. Where it has the callers of all others, the total is exact, and
// so is what was called for from each address; how the stacks share that is an estimate (caller_strata.hpp).
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

// How stacks were taken, by the fact of the trace.
struct StackSampling {
    std::uint64_t mean_bytes{};  // between two samples; 0: all of them
    [[nodiscard]] bool is_exact() const noexcept { return mean_bytes == 0; }
    // For what a block of this size stands, in parts of `unit`.
    [[nodiscard]] AllocationLedger::Weight weight_of(std::uint64_t size) const;
    static constexpr std::uint64_t unit = 256;
};
inline constexpr const char* stacks_fact = "stacks";
[[nodiscard]] StackSampling sampling_of(const Facts& facts);

enum class CountedBy : std::uint8_t { stack, thread, size };

// Live at the peak is what was live when the whole trace held the most; or what the process image that held the most of
// any held then, as counters of each image have it (counts.hpp), and of all others nothing.
enum class PeakOf : std::uint8_t { trace, largest_image };

struct ThreadName {
    std::uint32_t process{};
    std::uint32_t thread{};
    friend auto operator<=>(const ThreadName&, const ThreadName&) = default;
};

struct CountedAllocations {
    StackSampling sampling;
    AllocationFigures total;                // its own peak is the trace's
    std::vector<AllocationFigures> of;      // by stack: node numbers, 0 those without; by thread or size: as below
    std::vector<AllocationFigures> groups;  // of stacks, where they were asked for
    std::vector<ThreadName> threads;
    std::vector<std::uint64_t> sizes;
    std::uint64_t impossible_event{};  // as Totals has it
    bool has_exact_callers{};          // of a sample: the total, and what was called for from each address
    [[nodiscard]] bool is_exact() const noexcept { return sampling.is_exact(); }
};

// Reads the trace from where it is to its end. By stack: after TraceReader::read_stacks(); `groups` says of each node
// which group it belongs to, or is empty. `peak` is for an exact trace, by stack and without groups.
[[nodiscard]] CountedAllocations count_allocations(TraceReader& reader, CountedBy by,
                                                   const std::vector<std::uint32_t>& groups = {},
                                                   PeakOf peak = PeakOf::trace);

}  // namespace memsweep::trace
