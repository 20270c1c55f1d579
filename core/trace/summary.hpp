// Sums up a trace: counts of events, live bytes, and everything else that `memsweep info` prints.
//
// A realloc counts as a free of the old block and then an allocation of the new one. An allocation at the address of a
// live block counts as a duplicate, and replaces the block. A free of a block that is not live counts as unknown, and
// not as a free. A free of address 0 does not count. Blocks that a process still holds when it ends or becomes another
// program count as live at the end.
//
// Units    bytes, counts.
// Cost     30 to 60 ns an event, most of it for finding blocks. A summary reads the trace once. If the trace marks
//          where the program's work ended (end_mark.hpp), it reads the trace again up to that mark.
// Memory   40 bytes a live block, 8 a thread, and a curve a process (live_history.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/trace/bounds.hpp"
#include "core/trace/live_blocks.hpp"
#include "core/trace/live_history.hpp"
#include "core/trace/mapped_ranges.hpp"
#include "core/trace/trace_reader.hpp"
#include "core/trace/unrecorded.hpp"

namespace memsweep::trace {

struct Totals {
    std::uint64_t events{};
    std::uint64_t allocations{};
    std::uint64_t frees{};
    std::uint64_t reallocations{};
    std::uint64_t threads{};
    std::uint64_t processes{};
    std::uint64_t peak_live_bytes{};
    std::uint64_t peak_live_blocks{};
    std::uint64_t end_live_bytes{};
    std::uint64_t end_live_blocks{};
    std::uint64_t bytes_allocated{};
    std::uint64_t max_size{};
    std::uint64_t unknown_frees{};
    std::uint64_t duplicate_allocations{};
    std::uint64_t failures{};
    std::uint64_t transfers{};
    std::uint64_t peak_mapped_bytes{};
    std::uint64_t impossible_event{};  // number of the first event whose size makes a sum exceed 64 bits; 0: none
    std::uint64_t first_ticks{};
    std::uint64_t last_ticks{};
};

// Counts of values by powers of two: entry 0 counts zeroes, entry k counts values from 2^(k-1) to 2^k - 1. A value
// belongs to the entry whose number is the value's bit_width.
using Histogram = std::array<std::uint64_t, 65>;
// Returns the largest value that entry number `place` counts.
[[nodiscard]] constexpr std::uint64_t histogram_limit(std::size_t place)
{
    return place == 0 ? 0 : place == 64 ? ~0ULL : (1ULL << place) - 1;
}

// The memory that the code of one module, or of several, has mapped.
struct MappedFigures {
    std::uint64_t mappings{};
    std::uint64_t bytes{};       // of all of them
    std::uint64_t live_bytes{};  // still mapped after the last event
    std::uint64_t peak_bytes{};  // the most at any time
    std::uint64_t end_bytes{};   // still mapped when their process ended, or at the end of the trace
};

class Accounting {
  public:
    void add(const Event& event);
    [[nodiscard]] Totals totals() const;
    [[nodiscard]] const Histogram& sizes() const noexcept { return sizes_; }
    // Returns how many blocks had which lifetime. A lifetime is the number of allocations made between a block's
    // allocation and its free.
    [[nodiscard]] const Histogram& lifetimes() const noexcept { return lifetimes_; }
    [[nodiscard]] const LiveBlocks& live() const noexcept { return walk_.live(); }
    [[nodiscard]] std::uint64_t live_bytes() const noexcept { return walk_.live_bytes(); }
    // Returns the mapped memory of each module. The index is the number in Event::module.
    [[nodiscard]] const std::vector<MappedFigures>& mapped_by() const noexcept { return mapped_by_; }
    // Returns the same as totals(), but computes nothing: `threads`, `processes`, `peak_live_bytes` and the totals at
    // the end are 0.
    [[nodiscard]] const Totals& counts() const noexcept { return totals_; }
    [[nodiscard]] const std::set<std::pair<std::uint32_t, std::uint32_t>>& threads() const noexcept { return threads_; }
    // How much the accounting holds in memory, in the units of bounds.hpp.
    [[nodiscard]] std::uint64_t held() const noexcept
    {
        return walk_.live().count() + mapped_.count() + things_of_a_thread * threads_.size();
    }

  private:
    void change_blocks(const Event& event);
    void abandon(std::uint32_t process);
    void map(const Event& event);
    void unmap(const Event& event);
    void forget_mapping(std::uint64_t bytes, std::uint32_t module);
    void overflow();

    Totals totals_;
    BlockWalk walk_;
    std::vector<std::uint32_t> born_;  // by a block's number: how many allocations came before it
    MappedRanges mapped_;
    std::vector<MappedFigures> mapped_by_;
    std::uint64_t mapped_bytes_{};
    std::uint64_t abandoned_blocks_{};
    std::uint64_t abandoned_bytes_{};
    std::set<std::pair<std::uint32_t, std::uint32_t>> threads_;
    std::optional<std::pair<std::uint32_t, std::uint32_t>> last_thread_;
    Histogram sizes_{};
    Histogram lifetimes_{};
};

// A total that an imported log states, and the same total computed from the events imported from this log.
struct StatedTotal {
    std::string what;  // "allocations of process 14505"
    std::uint64_t stated{};
    std::uint64_t imported{};
};
[[nodiscard]] Facts stated_facts(const std::vector<StatedTotal>& totals);

struct Space {
    std::string name;
    SpaceKind kind{};
    std::uint32_t device{};
};

// The figures of one process.
struct ProcessSummary {
    std::uint32_t process{};
    std::string program{};  // the file that it ran, or several with commas; empty: not recorded
    std::uint64_t events{};
    std::uint64_t threads{};
    std::uint64_t allocations{};
    std::uint64_t frees{};
    std::uint64_t bytes_allocated{};
    std::uint64_t live_bytes{};  // still live after the last event; 0 if the process has ended
    std::uint64_t peak_live_bytes{};
    std::uint64_t end_live_bytes{};  // live when it ended or became another program, or when the trace ended
    std::uint64_t first_event{};     // number of its first event, from 1
    std::uint64_t last_event{};
    std::uint64_t first_ticks{};
    std::uint64_t last_ticks{};
    std::string malloc_from{};         // the end of the path of the library whose malloc served it; empty: not known
    std::uint64_t heap_pages_bytes{};  // memory that can only hold blocks (recorder/heap_pages.hpp); 0: not known
};

// The memory that the code of one file has mapped.
struct MappingModule {
    std::string path{};   // empty: the code lies in no file, or is not known
    bool is_allocator{};  // its malloc served the program
    MappedFigures mapped;
};

// The stacks of all threads but the first of each process.
struct ThreadStackTotals {
    std::uint64_t threads{};
    std::uint64_t bytes{};       // of all of them
    std::uint64_t peak_bytes{};  // the most bytes at a time
};

// The totals at the end of the program's work, if the trace has a mark of it (end_mark.hpp).
struct EndOfWorkTotals {
    std::string sign;
    std::uint64_t events{};  // number of events before the mark
    std::uint64_t ticks{};
    std::uint64_t live_bytes{};
    std::uint64_t live_blocks{};
};

struct TraceSummary {
    Totals totals;
    std::vector<ProcessSummary> processes;  // in the order of their first event
    LiveHistory live;
    Histogram sizes{};
    Histogram lifetimes{};
    std::map<EventKind, std::uint64_t> by_kind;
    std::map<std::uint32_t, Space> spaces;
    Facts facts;  // all but program_fact, stated_fact, heap_pages_fact, server_fact and unrecorded programs
    Damage damage;
    std::uint64_t ticks_per_second{};
    std::uint64_t bad_lines{};               // in the log that the trace was imported from
    std::vector<StatedTotal> stated_totals;  // the totals that the imported log states
    ThreadStackTotals thread_stacks;
    std::uint64_t usable_sizes{};          // number of pairs of size and alignment whose usable size is recorded
    std::vector<MappingModule> mapped_by;  // ordered by peak, the largest first; empty: the trace does not say
    std::optional<EndOfWorkTotals> end_of_work;
    std::vector<UnrecordedProgram> unrecorded;  // programs of the process tree that the trace does not have
};

// If totals.impossible_event is not 0, the totals are wrong from this event on; possible_total() returns an error for
// such totals. If reader.outcome() is an error, the totals count only the events that were read before the error.
[[nodiscard]] TraceSummary summarize(TraceReader& reader);

}  // namespace memsweep::trace
