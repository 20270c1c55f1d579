// Says in one word what the memory of a stopped program is. It goes by the ledger, by what a request to the allocator
// returned, if one was tried, and by which call sites grow or have lost blocks.
//
// Threads  any.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/measure/memory_ledger.hpp"

namespace memsweep::measure {

enum class MemoryWord : std::uint8_t {
    leak,           // nothing points to it any more: it grew all the time, or is much, in many pieces
    grows,          // grew all the time, and is still pointed to
    retention,      // whole free pages, of which a request returns at least half
    kept,           // whole free pages, of which a request returns less than half, or none was tried
    fragmentation,  // holes beside live blocks
    rounding,       // usable above requested, headers, and what alignment leaves
    huge_pages,     // parts of huge pages that are zero beside others that are not
    stacks,
    files,
    shared,
    mapped_by_program,
    in_use,  // live blocks, or the program's data
    nothing_to_change,
};
inline constexpr std::size_t memory_words = 13;
[[nodiscard]] std::string_view name_of(MemoryWord word);
[[nodiscard]] std::optional<MemoryWord> memory_word(std::string_view name);

enum class KnownAllocator : std::uint8_t { glibc, jemalloc, mimalloc, tcmalloc, other };
// The allocator, recognised by the file that malloc comes from.
[[nodiscard]] KnownAllocator allocator_of_file(std::string_view path);
[[nodiscard]] std::string_view name_of(KnownAllocator allocator);

struct TriedRequest {
    std::string request;       // "malloc_trim"; empty: none was tried
    std::uint64_t returned{};  // anonymous bytes
    std::string why_not{};     // none was tried
    [[nodiscard]] bool was_tried() const noexcept { return !request.empty(); }
};

// A figure that the allocator counts itself, and the ledger's figure for the same.
struct AllocatorFigure {
    std::string name;  // as the allocator calls it
    std::uint64_t bytes{};
    std::uint64_t ledger{};
};

enum class SiteGrowth : std::uint8_t { none, grows, leak };
[[nodiscard]] std::string_view name_of(SiteGrowth growth);

struct VerdictInput {
    const MemoryLedger* ledger{};
    const TriedRequest* tried{};
    std::span<const SiteGrowth> growth;   // by site
    std::span<const std::uint64_t> lost;  // by site: bytes that were lost in many pieces; empty: not known
    KnownAllocator allocator{};
    bool has_small_chunks{};  // most of what was left behind was freed in blocks that fastbins take
    bool has_threads{};       // several that allocate
};

struct MemoryVerdict {
    MemoryWord word{};
    std::uint64_t bytes{};              // that the word is about
    bool is_throughout{};               // a leak of sites that grew all the time, and of no others
    std::vector<std::string> settings;  // settings to try, as environment variables, from the allocator's documentation
    std::optional<std::uint32_t> site;  // that has the most of it
};

// Waste below either of these is too little to change anything.
inline constexpr std::uint64_t noticed_waste_bytes = 4U << 20U;
inline constexpr double noticed_waste_share = 0.2;

[[nodiscard]] MemoryVerdict memory_verdict(const VerdictInput& input);

// True if more than a tenth of the allocator's heap, and more than 4 MiB, never lay in a block. Then the recording does
// not see what the program allocates.
[[nodiscard]] bool does_not_see(const MemoryLedger& ledger);

}  // namespace memsweep::measure
