// Says where every resident page of a stopped program comes from. It puts five things together: the address space, the
// blocks that the program held, the pages that blocks lay in before, who mapped what, and the stacks of its threads.
//
// Each page is in the first category that fits, in the order of MemoryCategory. On a page with blocks, that holds for
// each byte. The sum is the resident memory, to the byte.
//
// Units    bytes; addresses of that program.
// Cost     some 20 ns a resident page and 10 ns a block.
// Memory   that of the result.
// Threads  any.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/sys/mappings.hpp"

namespace memsweep::measure {

enum class MemoryCategory : std::uint8_t {
    recorder,           // what memsweep has put there
    files_program,      // pages of executables and libraries
    files_data,         // of other files
    private_copies,     // pages of files that were written
    bss,                // the rest of an executable's or library's data
    shared,             // memory that is made to be shared
    stacks,             // of threads, alive or kept for the next
    huge_zero,          // parts of huge pages that are all zero: never written, or written with zeroes
    live,               // what was asked for and not freed
    rounding,           // usable bytes of blocks beyond what was asked for
    headers,            // of blocks
    holes,              // the rest of pages that live blocks lie on
    kept_free,          // pages without a live block that once lay in one
    never_a_block,      // other pages of the allocator
    mapped_by_program,  // mapped by code outside of the allocator: what is in it is not seen
    other,
};
inline constexpr std::size_t memory_categories = 16;
[[nodiscard]] std::string_view name_of(MemoryCategory category);

struct HeldBlock {
    std::uint64_t address{};
    std::uint64_t requested{};
    std::uint64_t usable{};  // at least what was requested
    std::uint32_t header{};  // directly before it
    std::uint32_t site{};
    std::uint64_t alignment{};  // that was asked for; 0: malloc's
};

struct AddressRange {
    std::uint64_t begin{};
    std::uint64_t end{};
};

// Pages that blocks have lain in, and the site of the last of them that was freed.
struct CoveredPages {
    std::uint64_t begin{};
    std::uint64_t end{};
    std::uint32_t site{};
};

struct MapperRange {
    std::uint64_t begin{};
    std::uint64_t end{};
    bool is_of_allocator{};
};

struct StackRange {
    std::uint64_t begin{};
    std::uint64_t end{};
    bool is_alive{};
};

// All lists by address, and without overlaps.
struct LedgerInput {
    const sys::AddressSpace* space{};
    std::uint64_t page_bytes{};
    std::span<const HeldBlock> blocks;
    std::span<const CoveredPages> covered;
    std::span<const MapperRange> mappers;
    std::span<const StackRange> stacks;
    std::span<const AddressRange> zero_parts;  // of huge pages
    std::string recorder_library;              // its file
    std::string recorder_folder;               // where the recorder writes to
    std::size_t sites{};                       // how many there are: numbers are smaller
    std::size_t most_cells{};                  // of the picture; 0: none is made
};

struct CategoryFigure {
    std::uint64_t bytes{};
    std::uint64_t pages{};  // each page once: one with live blocks is among those of `live`
    friend bool operator==(const CategoryFigure&, const CategoryFigure&) = default;
};

struct HeldBySite {
    std::uint64_t live{};  // bytes asked for, resident or not
    std::uint64_t blocks{};
    std::uint64_t left_behind{};       // holes and free pages whose last block came from it
    std::uint64_t pins_alone{};        // pages on which all live blocks come from it
    std::uint64_t pins_with_others{};  // other pages on which it has one
};

// The resident pages by address, in cells of one size. A cell without a resident page is left out.
struct PictureCell {
    std::uint64_t begin{};
    std::array<std::uint64_t, memory_categories> bytes{};
};
// A mapping. Mappings of one file that lie side by side are one area, with the data behind them.
struct PictureArea {
    std::uint64_t begin{};
    std::uint64_t end{};
    std::string name;  // as the kernel has it; empty: none
    std::vector<PictureCell> cells;

    [[nodiscard]] std::array<std::uint64_t, memory_categories> bytes() const noexcept;
};
struct MemoryPicture {
    std::uint64_t cell_bytes{};      // a power of two; cells begin at its multiples
    std::vector<PictureArea> areas;  // those with resident pages
};

struct MemoryLedger {
    std::array<CategoryFigure, memory_categories> categories{};
    std::vector<HeldBySite> sites;
    std::uint64_t rss_bytes{};       // as the kernel says
    std::uint64_t live_requested{};  // resident or not
    std::uint64_t live_blocks{};
    std::uint64_t kept_free_in_brk_heap{};  // part of kept_free
    std::uint64_t kept_free_at_top{};       // part of that: behind the last live block, where the heap can shrink
    std::uint64_t alignment_gaps{};         // part of holes: gaps behind an aligned block, up to the next aligned place
    std::uint64_t whole_huge_zero{};        // part of huge_zero: huge pages that are zero throughout were written so
    std::uint64_t zero_page_bytes{};        // backed by the kernel's page of zeroes; not resident
    std::uint64_t swapped_bytes{};          // likewise
    MemoryPicture picture;                  // has the same sums by category as `categories`

    [[nodiscard]] const CategoryFigure& of(MemoryCategory category) const
    {
        return categories[static_cast<std::size_t>(category)];
    }
    [[nodiscard]] std::uint64_t bytes(MemoryCategory category) const { return of(category).bytes; }
    [[nodiscard]] std::uint64_t sum() const noexcept;
    // The program's own: without the recorder.
    [[nodiscard]] std::uint64_t program_bytes() const noexcept;
};

// The owner of an area's pages, as far as the area tells.
enum class AreaRole : std::uint8_t {
    recorder,
    program_file,
    data_file,
    shared,
    stack,
    brk_heap,
    behind_file,
    anonymous
};
[[nodiscard]] std::vector<AreaRole> roles_of(const LedgerInput& input);

[[nodiscard]] MemoryLedger memory_ledger(const LedgerInput& input);

}  // namespace memsweep::measure
