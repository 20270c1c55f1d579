// Trims, which remove resident pages of arrays that a program still uses, by a step or by a policy. Also prefetches,
// which make pages resident before they are used.
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
    {TrimHow::none, "none", "nothing is taken: what the others are measured against; contents kept"},
    {TrimHow::soft, "soft",
     "page-table entries dropped, pages left in the page cache; contents kept, a minor fault per page written "
     "next"},
    {TrimHow::dontneed, "dontneed",
     "pages given back to the system (MADV_DONTNEED); contents lost, a minor fault per page touched next"},
    {TrimHow::free, "free",
     "pages given back when memory runs short (MADV_FREE); contents lost, or kept until then, page by page"},
    {TrimHow::cold, "cold",
     "pages first in line when memory runs short (MADV_COLD); contents kept, no fault until then"},
    {TrimHow::pageout, "pageout",
     "pages written to swap (MADV_PAGEOUT); contents kept, a fault per page touched next, a major one when it has "
     "to be read back"},
    {TrimHow::cgroup, "cgroup",
     "the control group gives up as many bytes, of whatever it holds (memory.reclaim); contents kept"},
});

enum class PrefetchHow : std::uint8_t { none, willneed, populate_read, populate_write };

template <>
inline constexpr auto name_table<PrefetchHow> = std::to_array<Named<PrefetchHow>>({
    {PrefetchHow::none, "none", "nothing is asked for: what the others are measured against"},
    {PrefetchHow::willneed, "willneed",
     "pages of files, of shared memory and of swap are read in the background (MADV_WILLNEED); the first use still "
     "faults"},
    {PrefetchHow::populate_read, "populate_read",
     "every page can be read without a fault (MADV_POPULATE_READ, Linux 5.14); with most kernels fresh private pages "
     "are the shared zero page until they are written"},
    {PrefetchHow::populate_write, "populate_write",
     "every page is there, to be written without a fault (MADV_POPULATE_WRITE, Linux 5.14)"},
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
