#include "core/measure/memory_verdict.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace memsweep::measure {
namespace {

using Category = MemoryCategory;

enum class SettingWhen : std::uint8_t { always, small_chunks, threads, large_chunks };

struct SettingRow {
    MemoryWord word;
    KnownAllocator allocator;
    SettingWhen when;
    std::string_view setting;
};

// Sources: glibc's manual, "Memory Allocation Tunables"; jemalloc(3), opt.*; mimalloc's documentation, environment
// options (of 2.0 and 2.1); gperftools' tcmalloc page.
constexpr std::array<SettingRow, 20> setting_rows{{
    {MemoryWord::retention, KnownAllocator::glibc, SettingWhen::small_chunks, "GLIBC_TUNABLES=glibc.malloc.mxfast=0"},
    {MemoryWord::retention, KnownAllocator::glibc, SettingWhen::threads, "GLIBC_TUNABLES=glibc.malloc.arena_max=1"},
    {MemoryWord::retention, KnownAllocator::glibc, SettingWhen::large_chunks,
     "GLIBC_TUNABLES=glibc.malloc.trim_threshold=131072"},
    {MemoryWord::retention, KnownAllocator::jemalloc, SettingWhen::always,
     "MALLOC_CONF=dirty_decay_ms:1000,background_thread:true"},
    {MemoryWord::retention, KnownAllocator::mimalloc, SettingWhen::always, "MIMALLOC_PURGE_DELAY=0"},
    {MemoryWord::retention, KnownAllocator::tcmalloc, SettingWhen::always, "TCMALLOC_RELEASE_RATE=10"},
    {MemoryWord::kept, KnownAllocator::glibc, SettingWhen::threads, "GLIBC_TUNABLES=glibc.malloc.arena_max=1"},
    {MemoryWord::kept, KnownAllocator::jemalloc, SettingWhen::always,
     "MALLOC_CONF=dirty_decay_ms:1000,background_thread:true"},
    {MemoryWord::kept, KnownAllocator::mimalloc, SettingWhen::always, "MIMALLOC_DECOMMIT_DELAY=0"},
    {MemoryWord::kept, KnownAllocator::mimalloc, SettingWhen::always, "MIMALLOC_PURGE_DELAY=0"},
    {MemoryWord::kept, KnownAllocator::tcmalloc, SettingWhen::always, "TCMALLOC_RELEASE_RATE=10"},
    {MemoryWord::fragmentation, KnownAllocator::jemalloc, SettingWhen::threads, "MALLOC_CONF=narenas:1"},
    {MemoryWord::fragmentation, KnownAllocator::glibc, SettingWhen::threads, "GLIBC_TUNABLES=glibc.malloc.arena_max=1"},
    {MemoryWord::huge_pages, KnownAllocator::glibc, SettingWhen::always, "GLIBC_TUNABLES=glibc.malloc.hugetlb=0"},
    {MemoryWord::huge_pages, KnownAllocator::jemalloc, SettingWhen::always, "MALLOC_CONF=thp:never"},
    {MemoryWord::huge_pages, KnownAllocator::mimalloc, SettingWhen::always, "MIMALLOC_ALLOW_LARGE_OS_PAGES=0"},
    {MemoryWord::stacks, KnownAllocator::glibc, SettingWhen::always, "GLIBC_TUNABLES=glibc.pthread.stack_cache_size=0"},
    {MemoryWord::stacks, KnownAllocator::jemalloc, SettingWhen::always,
     "GLIBC_TUNABLES=glibc.pthread.stack_cache_size=0"},
    {MemoryWord::stacks, KnownAllocator::mimalloc, SettingWhen::always,
     "GLIBC_TUNABLES=glibc.pthread.stack_cache_size=0"},
    {MemoryWord::stacks, KnownAllocator::tcmalloc, SettingWhen::always,
     "GLIBC_TUNABLES=glibc.pthread.stack_cache_size=0"},
}};

struct Group {
    MemoryWord word;
    std::uint64_t bytes;
};

const Group& largest(std::span<const Group> groups)
{
    return *std::ranges::max_element(groups, {}, &Group::bytes);
}

// Bytes of the sites that grow so.
std::uint64_t growing_bytes(const VerdictInput& input, SiteGrowth growth)
{
    std::uint64_t all = 0;
    for (std::size_t site = 0; site < input.growth.size(); ++site) {
        all += input.growth[site] == growth ? input.ledger->sites[site].live : 0;
    }
    return all;
}

bool leaks_throughout(const VerdictInput& input, std::size_t site)
{
    return site < input.growth.size() && input.growth[site] == SiteGrowth::leak;
}

// Bytes that a site has lost, where its growth does not say it.
std::uint64_t lost_besides(const VerdictInput& input, std::size_t site)
{
    return leaks_throughout(input, site) || site >= input.lost.size() ? 0 : input.lost[site];
}

// The site that has the most of a figure; none where no site has any.
template <typename Figure>
std::optional<std::uint32_t> first_site(const VerdictInput& input, Figure figure)
{
    std::optional<std::uint32_t> first;
    std::uint64_t most = 0;
    for (std::uint32_t site = 0; site < input.ledger->sites.size(); ++site) {
        if (const std::uint64_t has = figure(site); has > most) {
            most = has;
            first = site;
        }
    }
    return first;
}

std::optional<std::uint32_t> site_of(const MemoryVerdict& verdict, const VerdictInput& input)
{
    const auto& sites = input.ledger->sites;
    switch (verdict.word) {
    case MemoryWord::leak:
        return first_site(input, [&](std::uint32_t site) {
            const std::uint64_t besides = verdict.is_throughout ? 0 : lost_besides(input, site);
            return leaks_throughout(input, site) ? sites[site].live : besides;
        });
    case MemoryWord::grows:
        return first_site(
            input, [&](std::uint32_t site) { return input.growth[site] == SiteGrowth::grows ? sites[site].live : 0; });
    case MemoryWord::retention:
    case MemoryWord::kept:
        return first_site(input, [&](std::uint32_t site) { return sites[site].left_behind; });
    case MemoryWord::fragmentation:
        return first_site(input,
                          [&](std::uint32_t site) { return sites[site].pins_alone + sites[site].pins_with_others; });
    case MemoryWord::rounding:
    case MemoryWord::huge_pages:
    case MemoryWord::in_use:
        return first_site(input, [&](std::uint32_t site) { return sites[site].live; });
    case MemoryWord::stacks:
    case MemoryWord::files:
    case MemoryWord::shared:
    case MemoryWord::mapped_by_program:
    case MemoryWord::nothing_to_change:
        break;
    }
    return std::nullopt;
}

bool holds(SettingWhen when, const VerdictInput& input)
{
    const MemoryLedger& ledger = *input.ledger;
    const bool is_in_arenas = input.has_threads && ledger.kept_free_in_brk_heap * 2 < ledger.bytes(Category::kept_free);
    // Free chunks that are joined leave the heap only where no live block lies behind them.
    const std::uint64_t enclosed = ledger.kept_free_in_brk_heap - ledger.kept_free_at_top;
    const bool can_shrink = enclosed * 2 <= ledger.bytes(Category::kept_free);
    switch (when) {
    case SettingWhen::always:
        return true;
    case SettingWhen::small_chunks:
        return input.has_small_chunks && can_shrink;
    case SettingWhen::threads:
        return is_in_arenas && !input.has_small_chunks;
    case SettingWhen::large_chunks:
        return !input.has_small_chunks && !is_in_arenas;
    }
    return false;
}

// The word, and how much it is about.
MemoryVerdict decide(const VerdictInput& input)
{
    const MemoryLedger& ledger = *input.ledger;
    const auto of = [&](Category category) { return ledger.bytes(category); };
    const std::uint64_t free_pages = of(Category::kept_free);
    const bool returns_half =
        input.tried != nullptr && input.tried->was_tried() && input.tried->returned * 2 >= free_pages;
    const std::array waste{
        Group{returns_half ? MemoryWord::retention : MemoryWord::kept, free_pages},
        Group{MemoryWord::fragmentation, of(Category::holes) - ledger.alignment_gaps},
        Group{MemoryWord::rounding, of(Category::rounding) + of(Category::headers) + ledger.alignment_gaps},
        Group{MemoryWord::huge_pages, of(Category::huge_zero) - ledger.whole_huge_zero}};
    const std::uint64_t whole = ledger.program_bytes();
    const auto is_noticed = [&](std::uint64_t part) {
        return part >= noticed_waste_bytes &&
               static_cast<double>(part) >= noticed_waste_share * static_cast<double>(whole);
    };
    constexpr std::uint64_t noticed_leak_bytes = 1U << 20U;
    const Group& most_waste = largest(waste);
    const std::uint64_t throughout = growing_bytes(input, SiteGrowth::leak);
    std::uint64_t besides = 0;
    for (std::size_t site = 0; site < input.lost.size(); ++site) {
        besides += lost_besides(input, site);
    }
    besides = is_noticed(besides) ? besides : 0;
    const std::uint64_t lost = throughout + besides;
    const bool is_most = throughout + besides / 2 >= most_waste.bytes;  // what is seen only at the end tells less
    if (lost >= noticed_leak_bytes && (is_most || !is_noticed(most_waste.bytes))) {
        return {.word = MemoryWord::leak, .bytes = lost, .is_throughout = besides == 0};
    }
    if (is_noticed(most_waste.bytes)) {
        return {.word = most_waste.word, .bytes = most_waste.bytes};
    }
    const std::array uses{Group{MemoryWord::in_use, of(Category::live) + of(Category::private_copies) +
                                                        of(Category::bss) + ledger.whole_huge_zero},
                          Group{MemoryWord::stacks, of(Category::stacks)},
                          Group{MemoryWord::files, of(Category::files_program) + of(Category::files_data)},
                          Group{MemoryWord::shared, of(Category::shared)},
                          Group{MemoryWord::mapped_by_program, of(Category::mapped_by_program)}};
    const Group& most_used = largest(uses);
    if (most_used.bytes < noticed_waste_bytes) {
        return {.word = MemoryWord::nothing_to_change, .bytes = most_used.bytes};
    }
    const std::uint64_t growing = growing_bytes(input, SiteGrowth::grows);
    if (most_used.word == MemoryWord::in_use && growing >= noticed_waste_bytes && growing * 2 >= most_used.bytes) {
        return {.word = MemoryWord::grows, .bytes = growing};
    }
    return {.word = most_used.word, .bytes = most_used.bytes};
}

}  // namespace

std::string_view name_of(MemoryWord word)
{
    constexpr std::array<std::string_view, memory_words> names{
        "leak",  "grows",  "retention",         "kept",   "fragmentation",    "rounding", "huge_pages", "stacks",
        "files", "shared", "mapped_by_program", "in_use", "nothing_to_change"};
    return names.at(static_cast<std::size_t>(word));
}

std::optional<MemoryWord> memory_word(std::string_view name)
{
    for (std::size_t i = 0; i < memory_words; ++i) {
        if (name_of(static_cast<MemoryWord>(i)) == name) {
            return static_cast<MemoryWord>(i);
        }
    }
    return std::nullopt;
}

KnownAllocator allocator_of_file(std::string_view path)
{
    constexpr std::array<std::pair<std::string_view, KnownAllocator>, 4> names{
        {{"libc.so", KnownAllocator::glibc},
         {"libjemalloc", KnownAllocator::jemalloc},
         {"libmimalloc", KnownAllocator::mimalloc},
         {"libtcmalloc", KnownAllocator::tcmalloc}}};
    const std::string_view file = path.substr(path.rfind('/') + 1);
    for (const auto& [begin, allocator] : names) {
        if (file.starts_with(begin)) {
            return allocator;
        }
    }
    return KnownAllocator::other;
}

std::string_view name_of(KnownAllocator allocator)
{
    constexpr std::array<std::string_view, 5> names{"glibc", "jemalloc", "mimalloc", "tcmalloc", "other"};
    return names.at(static_cast<std::size_t>(allocator));
}

std::string_view name_of(SiteGrowth growth)
{
    constexpr std::array<std::string_view, 3> names{"none", "grows", "leak"};
    return names.at(static_cast<std::size_t>(growth));
}

MemoryVerdict memory_verdict(const VerdictInput& input)
{
    MemoryVerdict verdict = decide(input);
    verdict.site = site_of(verdict, input);
    for (const SettingRow& row : setting_rows) {
        if (row.word == verdict.word && row.allocator == input.allocator && holds(row.when, input)) {
            verdict.settings.emplace_back(row.setting);
        }
    }
    return verdict;
}

bool does_not_see(const MemoryLedger& ledger)
{
    const std::uint64_t never = ledger.bytes(Category::never_a_block);
    const std::uint64_t heap = never + ledger.bytes(Category::live) + ledger.bytes(Category::rounding) +
                               ledger.bytes(Category::headers) + ledger.bytes(Category::holes) +
                               ledger.bytes(Category::kept_free) + ledger.bytes(Category::huge_zero);
    return never > noticed_waste_bytes && never * 10 > heap;
}

}  // namespace memsweep::measure
