// The facts that a trace tells about one process's heap, at the point up to which it is read. They are the live blocks,
// and when and at which site each was made; the pages that blocks have lain in; who mapped what; where the stacks of
// threads lie; and how long blocks have lived, by call site.
//
// Once a page is mapped anew, it counts as one in which no block has lain.
//
// Units    bytes; events of that process are its time.
// Cost     100 ns an event, and 2 ns a page that a freed block has covered.
// Memory   40 bytes a live block, 4 a page that was covered, 2 KiB a site.
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

// The pages, of 4 KiB or another page size, that blocks have covered.
class CoveredPageTable {
  public:
    explicit CoveredPageTable(std::uint64_t page_bytes) : page_bytes_{page_bytes} {}
    void cover(std::uint64_t begin, std::uint64_t end, std::uint32_t site);
    void clear(std::uint64_t begin, std::uint64_t end);
    [[nodiscard]] std::vector<measure::CoveredPages> runs() const;

  private:
    static constexpr std::uint64_t pages_in_part = 512;
    using Part = std::vector<std::uint32_t>;  // site and one; 0: never
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
    std::uint64_t alignment{};  // 0: malloc's
    std::uint64_t born{};       // event
    std::uint32_t site{};
    std::uint32_t stack{};
};

struct HeapHistoryQuery {
    std::uint32_t process{};
    std::uint64_t page_bytes{};
    std::span<const std::uint32_t> site_of_stack;  // by node; node 0: blocks without a stack
    std::uint32_t sites{};
};

class HeapHistory {
  public:
    // Reads from the reader's first event on. Call read_stacks() and read_notes() before.
    [[nodiscard]] static HeapHistory read(TraceReader& reader, const ProgramNotes& notes,
                                          const HeapHistoryQuery& query);

    [[nodiscard]] const std::vector<LiveHeapBlock>& live() const noexcept { return live_; }  // by address
    [[nodiscard]] const std::vector<measure::CoveredPages>& covered() const noexcept { return covered_; }
    [[nodiscard]] const std::vector<ThreadStackState>& stacks() const noexcept { return stacks_; }
    struct Mapped {
        std::uint64_t begin{};
        std::uint64_t end{};
        std::uint32_t module{};  // a place in the notes' modules; 0: not known
    };
    [[nodiscard]] const std::vector<Mapped>& mapped() const noexcept { return mapped_; }  // by address
    [[nodiscard]] std::uint64_t events() const noexcept { return events_; }
    [[nodiscard]] std::uint64_t last_ticks() const noexcept { return last_ticks_; }
    // The number of threads that asked for at least a twentieth of all bytes.
    [[nodiscard]] std::size_t allocating_threads() const noexcept { return allocating_threads_; }
    // The lifetimes of all blocks, and of the blocks of each site.
    [[nodiscard]] const measure::Lifetimes& lifetimes() const noexcept { return lifetimes_; }
    [[nodiscard]] const measure::Lifetimes* lifetimes_of(std::uint32_t site) const;
    // Bytes that were freed at each site: in all, and in blocks of at most small_block bytes.
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
