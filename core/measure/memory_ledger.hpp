// Says what every resident page of a stopped program is used for. The input is the program's address space, its live
// blocks, the pages that once held freed blocks, who made each mapping (the allocator or other code), and the stacks of
// the threads.
//
// A page gets one category of MemoryCategory. On a page with live blocks, each byte gets a category of
// its own. The sum over all categories is exactly the resident memory.
//
// Units    bytes; addresses of the stopped program.
// Cost     some 20 ns per resident page and 10 ns per block.
// Memory   only the result.
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
    recorder,           // memory of memsweep's recorder
    files_program,      // pages of executables and libraries
    files_data,         // pages of other files
    private_copies,     // private pages of files that were written to
    bss,                // zero-initialised data of executables and libraries
    shared,             // memory that was mapped as shared memory
    stacks,             // of living threads, and stacks kept for later threads
    huge_zero,          // all-zero parts of huge pages: never written, or written with zeroes
    live,               // bytes that were asked for and not freed
    rounding,           // usable bytes of live blocks beyond what was asked for
    headers,            // the allocator's headers of live blocks
    holes,              // the other bytes of pages with live blocks
    kept_free,          // pages without a live block that once held blocks, now freed
    never_a_block,      // pages of the allocator that never held a block
    mapped_by_program,  // mapped by code other than the allocator; the contents are not known
    other,
};
inline constexpr std::size_t memory_categories = 16;
[[nodiscard]] std::string_view name_of(MemoryCategory category);

struct HeldBlock {
    std::uint64_t address{};
    std::uint64_t requested{};
    std::uint64_t usable{};  // at least `requested`
    std::uint32_t header{};  // size of the header, which lies directly before the block
    std::uint32_t site{};
    std::uint64_t alignment{};  // the alignment asked for; 0: that of malloc
};

struct AddressRange {
    std::uint64_t begin{};
    std::uint64_t end{};
};

// Pages that once held blocks, now freed, and the call site of the block that was freed last.
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

// Every list is sorted by address and has no overlaps.
struct LedgerInput {
    const sys::AddressSpace* space{};
    std::uint64_t page_bytes{};
    std::span<const HeldBlock> blocks;
    std::span<const CoveredPages> covered;
    std::span<const MapperRange> mappers;
    std::span<const StackRange> stacks;
    std::span<const AddressRange> zero_parts;  // the all-zero parts of huge pages
    std::string recorder_library;              // the file of the recorder's library
    std::string recorder_folder;               // the folder that the recorder writes to
    std::size_t sites{};                       // the number of call sites; HeldBlock::site is below it
    std::size_t most_cells{};  // approximate limit on the cells of the picture (memory_picture.hpp); 0: no picture
};

struct CategoryFigure {
    std::uint64_t bytes{};
    std::uint64_t pages{};  // each page counts once; a page with live blocks counts under `live`
    friend bool operator==(const CategoryFigure&, const CategoryFigure&) = default;
};

struct HeldBySite {
    std::uint64_t live{};  // bytes asked for, resident or not
    std::uint64_t blocks{};
    std::uint64_t left_behind{};       // bytes of holes and free pages whose last block was of this site
    std::uint64_t pins_alone{};        // bytes of pages whose live blocks all come from this site
    std::uint64_t pins_with_others{};  // bytes of pages with live blocks of this site and of others
};

// A range of addresses, and its resident bytes by category. All cells of a picture have the same size. A cell without a
// resident page is left out.
struct PictureCell {
    std::uint64_t begin{};
    std::array<std::uint64_t, memory_categories> bytes{};
};
// A mapping. Adjacent mappings of one file, and the data that follows them, are one area.
struct PictureArea {
    std::uint64_t begin{};
    std::uint64_t end{};
    std::string name;  // the kernel's name; empty: none
    std::vector<PictureCell> cells;

    [[nodiscard]] std::array<std::uint64_t, memory_categories> bytes() const noexcept;
};
struct MemoryPicture {
    std::uint64_t cell_bytes{};      // a power of two; cells begin at its multiples
    std::vector<PictureArea> areas;  // only areas with resident pages
};

struct MemoryLedger {
    std::array<CategoryFigure, memory_categories> categories{};
    std::vector<HeldBySite> sites;
    std::uint64_t rss_bytes{};       // as the kernel reports
    std::uint64_t live_requested{};  // resident or not
    std::uint64_t live_blocks{};
    std::uint64_t kept_free_in_brk_heap{};  // part of kept_free
    std::uint64_t kept_free_at_top{};       // part of kept_free_in_brk_heap: at the top, where the heap can shrink
    std::uint64_t alignment_gaps{};         // part of holes: after an aligned block, up to the next aligned address
    std::uint64_t whole_huge_zero{};        // part of huge_zero: whole huge pages of zeroes, which the program wrote
    std::uint64_t zero_page_bytes{};        // pages backed by the kernel's zero page; not resident
    std::uint64_t swapped_bytes{};          // pages in swap; not resident
    MemoryPicture picture;                  // has the same sums by category as `categories`

    [[nodiscard]] const CategoryFigure& of(MemoryCategory category) const
    {
        return categories[static_cast<std::size_t>(category)];
    }
    [[nodiscard]] std::uint64_t bytes(MemoryCategory category) const { return of(category).bytes; }
    [[nodiscard]] std::uint64_t sum() const noexcept;
    // The sum without the recorder.
    [[nodiscard]] std::uint64_t program_bytes() const noexcept;
};

// What the pages of a mapping are used for, judging by the mapping as a whole. (MemoryCategory is about single pages.)
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
// Returns one role for each mapping of `input.space`, in the same order.
[[nodiscard]] std::vector<AreaRole> roles_of(const LedgerInput& input);

[[nodiscard]] MemoryLedger memory_ledger(const LedgerInput& input);

}  // namespace memsweep::measure
