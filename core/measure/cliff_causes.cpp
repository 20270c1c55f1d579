#include "core/measure/cliff_causes.hpp"

#include <algorithm>
#include <array>

namespace memsweep::measure {
namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;

constexpr std::array<CliffSetting, 1> glibc_mmap{
    {{"GLIBC_TUNABLES", "glibc.malloc.mmap_threshold=1073741824:glibc.malloc.trim_threshold=2147483648"}}};
constexpr std::array<CliffSetting, 1> jemalloc_tcache{{{"MALLOC_CONF", "tcache_max:65536"}}};
constexpr std::array<CliffSetting, 2> jemalloc_oversize{
    {{"MALLOC_CONF", "oversize_threshold:4194304"}, {"MALLOC_CONF", "dirty_decay_ms:-1"}}};
constexpr std::array<CliffSetting, 1> mimalloc_huge{{{"MIMALLOC_RESERVE_OS_MEMORY", "536870912"}}};
constexpr std::array<CliffSetting, 1> mimalloc_large{{{"MIMALLOC_ALLOW_DECOMMIT", "0"}}};
constexpr std::array<CliffSetting, 1> tcmalloc_release{{{"TCMALLOC_RELEASE_RATE", "0"}}};

constexpr std::array<CliffCause, 7> causes{{
    {"glibc", CliffKind::faults, 31 * mib, 33 * mib,
     "freeing a block that had a mapping of its own raises the mmap threshold to its size, but not to 32 MiB: a block "
     "whose mapping is that large is mapped, faulted in and unmapped every time",
     glibc_mmap, ""},
    {"jemalloc", CliffKind::time, 16 * kib, 64 * kib,
     "larger blocks than tcache_max are not kept by the thread: they go through their arena, under its lock",
     jemalloc_tcache, ""},
    {"jemalloc", CliffKind::faults, 6 * mib, 9 * mib,
     "the next size class is 8 MiB, oversize_threshold: such a block is purged as soon as it is freed, so every page "
     "is faulted in again",
     jemalloc_oversize, ""},
    {"mimalloc", CliffKind::time, 96 * kib, 160 * kib,
     "larger blocks get a run of pages of their own in a segment (large pages): it is set up with every malloc and "
     "taken apart with every free",
     mimalloc_large, "the limit is compiled in: the setting changes what lies above it, not the limit"},
    {"mimalloc", CliffKind::faults, 15 * mib, 17 * mib,
     "larger blocks than half a segment are mapped from the system and unmapped when they are freed", mimalloc_huge,
     ""},
    {"tcmalloc",
     CliffKind::time,
     200 * kib,
     300 * kib,
     "larger blocks than the largest size class of the thread caches come from the page heap, under its lock",
     {},
     "the limit is compiled in"},
    {"tcmalloc", CliffKind::faults, 1 * mib, 1024 * mib,
     "freed pages are returned to the system at a rate that grows with what is freed", tcmalloc_release, ""},
}};

}  // namespace

const CliffCause* find_cause(std::string_view allocator, const Cliff& cliff)
{
    const auto found = std::ranges::find_if(causes, [&](const CliffCause& cause) {
        return cause.allocator == allocator && cause.kind == cliff.kind && cliff.cheap.bytes >= cause.lowest &&
               cliff.cheap.bytes <= cause.highest;
    });
    return found == causes.end() ? nullptr : &*found;
}

}  // namespace memsweep::measure
