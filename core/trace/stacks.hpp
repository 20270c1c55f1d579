// What each call stack of a trace, and each group of them, each thread or each size, has of its memory.
//
// Of an exact trace the sums over all equal the totals of the trace (summary.hpp). Live at the peak is what was live at
// the moment at which the whole trace held the most for the first time. A realloc is a free and then an allocation.
// An allocation is temporary, as in heaptrack, where the next thing that its thread does to a block is to free it.
//
// Of a trace that has the stacks of a sample, figures are estimates: each block that was sampled counts for all that
// it stands for, and those without a stack for nothing.
//
// Units    bytes, counts.
// Cost     60 ns an event.
// Memory   72 bytes a live block, 64 a stack and a group, 200 a size.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/trace/live_blocks.hpp"
#include "core/trace/stack_table.hpp"
#include "core/trace/trace_reader.hpp"

namespace memsweep::trace {

struct AllocationFigures {
    std::uint64_t allocations{};
    std::uint64_t bytes_allocated{};
    std::uint64_t temporary{};   // allocations
    std::uint64_t peak_bytes{};  // live at the trace's peak
    std::uint64_t peak_blocks{};
    std::uint64_t end_bytes{};  // live at the end of the trace, or when their process ended
    std::uint64_t end_blocks{};
    std::uint64_t own_peak_bytes{};  // the most that was live of it at any time
    friend bool operator==(const AllocationFigures&, const AllocationFigures&) = default;
};

// Adds all but the own peak, which has no sum.
void add(AllocationFigures& sum, const AllocationFigures& figures);

// Figures by small numbers, while the events go by.
class AllocationLedger {
  public:
    // How often a block counts, in parts of `unit`, and what it counts for in bytes.
    struct Weight {
        std::uint64_t count{1};
        std::uint64_t bytes{};
    };

    explicit AllocationLedger(std::uint64_t unit = 1) : unit_{unit} {}
    void make(std::uint32_t number, const Weight& weight);
    void free(std::uint32_t number, const Weight& weight, bool is_temporary);
    // Its process is over: it is live no more, and was at the end.
    void abandon(std::uint32_t number, const Weight& weight);
    // What is live now is live at the peak, until there is another.
    void begin_peak() { ++peak_; }

    [[nodiscard]] std::size_t count() const noexcept { return accounts_.size(); }
    [[nodiscard]] AllocationFigures figures(std::uint32_t number) const;
    [[nodiscard]] std::vector<AllocationFigures> all() const;

  private:
    struct Held {
        std::uint64_t bytes{};
        std::uint64_t blocks{};
    };
    struct Account {
        std::uint64_t allocations{};
        std::uint64_t bytes_allocated{};
        std::uint64_t temporary{};
        Held live;
        Held at_peak;  // of the peak number `seen_peak`; a later one finds what is live
        Held abandoned;
        std::uint64_t own_peak_bytes{};
        std::uint64_t seen_peak{};
    };
    Account& changing(std::uint32_t number);

    std::vector<Account> accounts_;
    std::uint64_t peak_{};
    std::uint64_t unit_;
};

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
    [[nodiscard]] bool is_exact() const noexcept { return sampling.is_exact(); }
};

// Reads the trace from where it is to its end. By stack: after TraceReader::read_stacks(); `groups` says of each node
// which group it belongs to, or is empty.
[[nodiscard]] CountedAllocations count_allocations(TraceReader& reader, CountedBy by,
                                                   const std::vector<std::uint32_t>& groups = {});

}  // namespace memsweep::trace
