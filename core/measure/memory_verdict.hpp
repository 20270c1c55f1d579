// Says in one word what the memory of a stopped program is mostly used for. The evidence is the ledger
// (memory_ledger.hpp), the bytes that the allocator returned when it was asked to return free memory (if it was asked),
// and the call sites that grow or have lost blocks.
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
    // Lost blocks, to which nothing points any more. Either their memory grew all the time, or they are many and take
    // much memory.
    leak,
    grows,          // memory that grew all the time and to which something still points
    retention,      // whole free pages; the allocator returned at least half of them when asked
    kept,           // whole free pages; the allocator returned less than half when asked, or was not asked
    fragmentation,  // holes beside live blocks
    rounding,       // usable bytes beyond the requested ones, headers, and gaps from alignment
    huge_pages,     // zero parts of huge pages whose other parts are not zero
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
// Recognises the allocator by the file that malloc comes from; `other` if it is none of the four.
[[nodiscard]] KnownAllocator allocator_of_file(std::string_view path);
[[nodiscard]] std::string_view name_of(KnownAllocator allocator);

// A request to the allocator to return its free memory.
struct TriedRequest {
    std::string request;       // for example "malloc_trim"; empty: no request was tried
    std::uint64_t returned{};  // bytes of anonymous memory that went back to the kernel
    std::string why_not{};     // why no request was tried
    [[nodiscard]] bool was_tried() const noexcept { return !request.empty(); }
};

// A number of bytes that the allocator itself reports, and the ledger's number for the same memory.
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
    std::span<const std::uint64_t> lost;  // by site; bytes lost in many pieces; empty if not known
    KnownAllocator allocator{};
    bool has_small_chunks{};  // most of the memory left behind was freed in blocks that are small enough for fastbins
    bool has_threads{};       // several threads allocate
};

struct MemoryVerdict {
    MemoryWord word{};
    std::uint64_t bytes{};              // the size of the memory that the word is about
    bool is_throughout{};               // for `leak`: all of it comes from sites that grew all the time
    std::vector<std::string> settings;  // settings to try, as environment variables, from the allocator's documentation
    std::optional<std::uint32_t> site;  // the call site with the most of this memory
};

// Waste decides the verdict only if it is at least this many bytes and at least this share of the program's memory.
inline constexpr std::uint64_t noticed_waste_bytes = 4U << 20U;
inline constexpr double noticed_waste_share = 0.2;

[[nodiscard]] MemoryVerdict memory_verdict(const VerdictInput& input);

// Whether more than a tenth of the allocator's heap, and more than 4 MiB of it, was never part of a recorded block. If
// so, the recording misses allocations of the program.
[[nodiscard]] bool does_not_see(const MemoryLedger& ledger);

}  // namespace memsweep::measure
