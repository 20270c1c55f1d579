#include "core/measure/cliffs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace memsweep::measure {
namespace {

using base::Expected;

constexpr double cliff_factor = 3;
constexpr int confirmations = 3;  // measurements of each side of a jump in time, the fastest of which counts

double cost(CliffKind kind, const SizeCost& size)
{
    return kind == CliffKind::faults ? size.faults_per_op : size.ns_per_op;
}

// Halfway between the sides: in sum for faults, of which there may be none; in ratio for times.
double watershed(CliffKind kind, const SizeCost& cheap, const SizeCost& dear)
{
    return kind == CliffKind::faults ? (cheap.faults_per_op + dear.faults_per_op) / 2
                                     : std::sqrt(cheap.ns_per_op * dear.ns_per_op);
}

Expected<SizeCost> fastest(std::uint64_t bytes, const CostOfSize& cost_of)
{
    std::optional<SizeCost> best;
    for (int i = 0; i < confirmations; ++i) {
        const SizeCost one = MEMSWEEP_TRY(cost_of(bytes));
        if (!best || one.ns_per_op < best->ns_per_op) {
            best = one;
        }
    }
    return *best;
}

Expected<Cliff> bisect(CliffKind kind, SizeCost cheap, SizeCost dear, const CostOfSize& cost_of)
{
    const double between = watershed(kind, cheap, dear);
    while (dear.bytes - cheap.bytes > 1) {
        const SizeCost middle = MEMSWEEP_TRY(cost_of(cheap.bytes + (dear.bytes - cheap.bytes) / 2));
        (cost(kind, middle) > between ? dear : cheap) = middle;
    }
    return Cliff{kind, cheap, dear};
}

// Both sides anew where noise could have made the jump.
Expected<Cliff> confirmed(const Cliff& cliff, const CostOfSize& cost_of)
{
    if (cliff.kind == CliffKind::faults) {
        return cliff;
    }
    const SizeCost cheap = MEMSWEEP_TRY(fastest(cliff.cheap.bytes, cost_of));
    const SizeCost dear = MEMSWEEP_TRY(fastest(cliff.dear.bytes, cost_of));
    return Cliff{cliff.kind, cheap, dear};
}

std::optional<CliffKind> kind_of(const SizeCost& cheap, const SizeCost& dear)
{
    if (is_cliff(CliffKind::faults, cheap, dear)) {
        return CliffKind::faults;
    }
    return is_cliff(CliffKind::time, cheap, dear) ? std::optional{CliffKind::time} : std::nullopt;
}

Expected<void> look_between(const SizeCost& cheap, const SizeCost& dear, const CostOfSize& cost_of,
                            std::vector<Cliff>& cliffs)
{
    const auto kind = kind_of(cheap, dear);
    if (!kind) {
        return {};
    }
    const Cliff found = MEMSWEEP_TRY(bisect(*kind, cheap, dear, cost_of));
    const Cliff cliff = MEMSWEEP_TRY(confirmed(found, cost_of));
    if (is_cliff(cliff.kind, cliff.cheap, cliff.dear)) {  // else it rose little by little, or was noise
        cliffs.push_back(cliff);
    }
    return {};
}

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

bool is_cliff(CliffKind kind, const SizeCost& cheap, const SizeCost& dear)
{
    return kind == CliffKind::faults ? dear.faults_per_op > cliff_factor * cheap.faults_per_op + 1
                                     : dear.ns_per_op > cliff_factor * cheap.ns_per_op;
}

std::vector<std::uint64_t> sizes_of(const SizeRange& range)
{
    std::vector<std::uint64_t> sizes;
    const double step = std::exp2(1.0 / range.per_doubling);
    for (auto size = static_cast<double>(range.from); size < static_cast<double>(range.to); size *= step) {
        const auto bytes = static_cast<std::uint64_t>(std::llround(size));
        if (sizes.empty() || bytes > sizes.back()) {
            sizes.push_back(bytes);
        }
    }
    if (sizes.empty() || sizes.back() < range.to) {
        sizes.push_back(range.to);
    }
    return sizes;
}

Expected<CliffSurvey> find_cliffs(const SizeRange& range, const CostOfSize& cost_of)
{
    CliffSurvey survey;
    for (const std::uint64_t bytes : sizes_of(range)) {
        survey.sizes.push_back(MEMSWEEP_TRY(cost_of(bytes)));
    }
    for (std::size_t i = 1; i < survey.sizes.size(); ++i) {
        MEMSWEEP_TRY(look_between(survey.sizes[i - 1], survey.sizes[i], cost_of, survey.cliffs));
    }
    return survey;
}

const CliffCause* find_cause(std::string_view allocator, const Cliff& cliff)
{
    const auto found = std::ranges::find_if(causes, [&](const CliffCause& cause) {
        return cause.allocator == allocator && cause.kind == cliff.kind && cliff.cheap.bytes >= cause.lowest &&
               cliff.cheap.bytes <= cause.highest;
    });
    return found == causes.end() ? nullptr : &*found;
}

}  // namespace memsweep::measure
