// Trims and prefetches. A trim removes resident pages of arrays that a program still uses; a step or a policy starts
// it. A prefetch makes pages resident before they are used.
//
// Units    bytes.
// Sources  madvise(2); memory.reclaim of cgroup v2.
#pragma once

#include <cstdint>

#include "core/model/names.hpp"

namespace memsweep::model {

enum class TrimHow : std::uint8_t { none, soft, dontneed, free, cold, pageout, cgroup };

template <>
inline constexpr auto name_table<TrimHow> = std::to_array<Named<TrimHow>>({
    {TrimHow::none, "none", "no page is taken: the baseline of the other mechanisms; contents kept"},
    {TrimHow::soft, "soft",
     "page-table entries are dropped, and pages stay in the page cache; contents kept; the next write to each page is "
     "a minor fault"},
    {TrimHow::dontneed, "dontneed",
     "pages are returned to the system (MADV_DONTNEED); contents lost; the next touch of each page is a minor fault"},
    {TrimHow::free, "free",
     "pages are returned once memory runs short (MADV_FREE); until then each page keeps its contents"},
    {TrimHow::cold, "cold",
     "pages are the first to be reclaimed once memory runs short (MADV_COLD); contents kept, and no fault until then"},
    {TrimHow::pageout, "pageout",
     "pages are written to swap (MADV_PAGEOUT); contents kept; the next touch of each page is a fault, and a major one "
     "if the page must be read back"},
    {TrimHow::cgroup, "cgroup",
     "the control group reclaims as many bytes from any of its memory (memory.reclaim); contents kept"},
});

enum class PrefetchHow : std::uint8_t { none, willneed, populate_read, populate_write };

template <>
inline constexpr auto name_table<PrefetchHow> = std::to_array<Named<PrefetchHow>>({
    {PrefetchHow::none, "none", "nothing is requested: the baseline of the other ways"},
    {PrefetchHow::willneed, "willneed",
     "pages of files, of shared memory and of swap are read in the background (MADV_WILLNEED); the first use still "
     "faults"},
    {PrefetchHow::populate_read, "populate_read",
     "every page can be read without a fault (MADV_POPULATE_READ, Linux 5.14); on most kernels a fresh private page is "
     "the shared zero page until it is written"},
    {PrefetchHow::populate_write, "populate_write",
     "every page can be written without a fault (MADV_POPULATE_WRITE, Linux 5.14)"},
});

// The state of an array's contents after its pages have been removed.
enum class Contents : std::uint8_t { kept, lost, uncertain };

template <>
inline constexpr auto name_table<Contents> = std::to_array<Named<Contents>>({
    {Contents::kept, "kept", "every byte is what it was"},
    {Contents::lost, "lost", "every byte reads as zero"},
    {Contents::uncertain, "uncertain", "each page is what it was, or zero, as the kernel needed memory"},
});

[[nodiscard]] constexpr Contents contents_after(TrimHow how)
{
    switch (how) {
    case TrimHow::dontneed:
        return Contents::lost;
    case TrimHow::free:
        return Contents::uncertain;
    case TrimHow::none:
    case TrimHow::soft:
    case TrimHow::cold:
    case TrimHow::pageout:
    case TrimHow::cgroup:
        break;
    }
    return Contents::kept;
}

// A rule by which arrays are trimmed without a step. Before each operation, if the process's resident set is above a
// limit, all arrays that the program can reach are trimmed. Arrays that it can no longer reach stay resident, at the
// expense of the arrays in use.
struct TrimPolicy {
    std::uint64_t above_bytes{};  // the limit; 0: never trim
    TrimHow how{TrimHow::soft};
    friend bool operator==(const TrimPolicy&, const TrimPolicy&) = default;
};

}  // namespace memsweep::model
