#include "core/model/paging.hpp"

#include <array>

#include <fmt/format.h>

#include "core/model/driver_memory.hpp"

namespace memsweep::model {

template <>
std::span<const Named<TrimHow>> names<TrimHow>()
{
    static constexpr std::array<Named<TrimHow>, 7> table{{
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
    }};
    return table;
}

template <>
std::span<const Named<PrefetchHow>> names<PrefetchHow>()
{
    static constexpr std::array<Named<PrefetchHow>, 4> table{{
        {PrefetchHow::none, "none", "nothing is asked for: what the others are measured against"},
        {PrefetchHow::willneed, "willneed",
         "pages of files, of shared memory and of swap are read in the background (MADV_WILLNEED); the first use still "
         "faults"},
        {PrefetchHow::populate_read, "populate_read",
         "every page can be read without a fault (MADV_POPULATE_READ, Linux 5.14); fresh private pages are the shared "
         "zero page until they are written"},
        {PrefetchHow::populate_write, "populate_write",
         "every page is there, to be written without a fault (MADV_POPULATE_WRITE, Linux 5.14)"},
    }};
    return table;
}

template <>
std::span<const Named<Contents>> names<Contents>()
{
    static constexpr std::array<Named<Contents>, 3> table{{
        {Contents::kept, "kept", "every byte is what it was"},
        {Contents::lost, "lost", "every byte reads as zero"},
        {Contents::uncertain, "uncertain", "each page is what it was, or zero, as the kernel needed memory"},
    }};
    return table;
}

Contents contents_after(TrimHow how)
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

std::string trim_objection(TrimHow how, const MemorySpec& memory, const SafetySpec& safety)
{
    if (memory.resource == ResourceKind::null) {
        return "resource \"null\" gives no memory: there is nothing to trim";
    }
    if (is_from_driver(memory.resource)) {
        return fmt::format("trims take pages of the process's own mappings: resource \"{}\" is a driver's",
                           name_of(memory.resource));
    }
    const bool fenced = safety.guard_pages || safety.detect == Detection::unmap;
    const bool shared = memory.resource == ResourceKind::memfd && !fenced;
    if (how == TrimHow::soft && !shared) {
        return fenced ? "trim \"soft\" keeps the contents of a shared mapping only; guard pages and detection by "
                        "unmapping make private ones"
                      : fmt::format("trim \"soft\" keeps the contents of a shared mapping only: it needs memory "
                                    "resource \"memfd\", not \"{}\"",
                                    name_of(memory.resource));
    }
    if ((how == TrimHow::dontneed || how == TrimHow::free) && shared) {
        return fmt::format("trim \"{}\" takes private anonymous memory only: resource \"memfd\" is a shared mapping, "
                           "whose twin of it is trim \"soft\"",
                           name_of(how));
    }
    return {};
}

}  // namespace memsweep::model
