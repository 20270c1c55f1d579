// Finds what a trace tells about the heap of one process, after the last event that is read:
// - the live blocks, with the time and the call site of their allocations
// - the pages that freed blocks have covered
// - the mapped ranges, with the modules that mapped them
// - the stacks of threads
// - how long blocks have lived, in all and by call site
//
// A page that is mapped or unmapped counts from then on as a page that no block has covered.
//
// Units    bytes; times are counted in events of the process.
// Cost     100 ns per event, and 2 ns per page that a freed block has covered.
// Memory   40 bytes per live block, 4 bytes per page that was covered, 2 KiB per site.
// Threads  one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/measure/memory_ledger.hpp"
#include "core/measure/survivors.hpp"
#include "core/trace/event.hpp"
#include "core/trace/live_blocks.hpp"
#include "core/trace/mapped_ranges.hpp"
#include "core/trace/thread_stacks.hpp"
#include "core/trace/trace_reader.hpp"

namespace memsweep::trace {

// The pages that freed blocks have covered. Each page has the call site of the last freed block that covered it.
class CoveredPageTable {
  public:
    explicit CoveredPageTable(std::uint64_t page_bytes) : page_bytes_{page_bytes} {}
    void cover(std::uint64_t begin, std::uint64_t end, std::uint32_t site);
    void clear(std::uint64_t begin, std::uint64_t end);
    [[nodiscard]] std::vector<measure::CoveredPages> runs() const;

  private:
    static constexpr std::uint64_t pages_in_part = 512;
    using Part = std::vector<std::uint32_t>;  // by page: the number of the site plus one; 0: never covered
    template <typename Visit>
    void visit(std::uint64_t begin, std::uint64_t end, bool makes, Visit change);

    std::uint64_t page_bytes_;
    std::unordered_map<std::uint64_t, Part> parts_;
    std::uint64_t last_number_{UINT64_MAX};
    Part* last_{};
};

struct LiveHeapBlock {
    std::uint64_t address{};
    std::uint64_t size{};
    std::uint64_t alignment{};  // 0: malloc's default
    std::uint64_t born{};       // the number of the event that allocated it
    std::uint32_t site{};
    std::uint32_t stack{};
};

struct HeapHistoryQuery {
    std::uint32_t process{};
    std::uint64_t page_bytes{};
    std::span<const std::uint32_t> site_of_stack;  // by stack node: its site; [0] is the site of blocks without a stack
    std::uint32_t sites{};
};

class HeapHistory {
  public:
    // Reads the events from the reader's position to the end of the trace. Before, call read_stacks() and read_notes()
    // of the reader.
    [[nodiscard]] static HeapHistory read(TraceReader& reader, const ProgramNotes& notes,
                                          const HeapHistoryQuery& query);

    [[nodiscard]] const std::vector<LiveHeapBlock>& live() const noexcept { return live_; }  // by address
    [[nodiscard]] const std::vector<measure::CoveredPages>& covered() const noexcept { return covered_; }
    [[nodiscard]] const std::vector<ThreadStackState>& stacks() const noexcept { return stacks_; }
    struct Mapped {
        std::uint64_t begin{};
        std::uint64_t end{};
        std::uint32_t module{};  // the module that mapped it: place in ProgramNotes::modules(), from 1; 0: not known
    };
    [[nodiscard]] const std::vector<Mapped>& mapped() const noexcept { return mapped_; }  // by address
    [[nodiscard]] std::uint64_t events() const noexcept { return events_; }
    [[nodiscard]] std::uint64_t last_ticks() const noexcept { return last_ticks_; }
    // Returns how many threads each requested at least a twentieth of all bytes that the process requested.
    [[nodiscard]] std::size_t allocating_threads() const noexcept { return allocating_threads_; }
    // Return the lifetimes of all blocks, or of the blocks of one site. Null: no lifetime of this site is known.
    [[nodiscard]] const measure::Lifetimes& lifetimes() const noexcept { return lifetimes_; }
    [[nodiscard]] const measure::Lifetimes* lifetimes_of(std::uint32_t site) const;
    // How many bytes of one site's blocks were freed: in all blocks, and in blocks of at most small_block bytes.
    struct Freed {
        std::uint64_t bytes{};
        std::uint64_t small_bytes{};
    };
    static constexpr std::uint64_t small_block = 120;  // the largest block that glibc's fastbins take by default
    [[nodiscard]] const std::vector<Freed>& freed() const noexcept { return freed_; }

  private:
    class Reading;
    std::vector<LiveHeapBlock> live_;
    std::vector<measure::CoveredPages> covered_;
    std::vector<ThreadStackState> stacks_;
    std::vector<Mapped> mapped_;
    std::vector<std::unique_ptr<measure::Lifetimes>> by_site_;
    std::vector<Freed> freed_;
    measure::Lifetimes lifetimes_;
    std::uint64_t events_{};
    std::uint64_t last_ticks_{};
    std::size_t allocating_threads_{};
};

}  // namespace memsweep::trace
