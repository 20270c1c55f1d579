// Settings of allocators: what a scenario may say, and what becomes of it in the worker's environment.
#include <array>
#include <limits>

#include "scenarios/allocator_settings.hpp"
#include "scenarios/options.hpp"

namespace memsweep::scenarios {
namespace {

using enum OptionKind;
using enum SettingForm;

constexpr std::uint64_t any_size = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t ms = 1'000'000;
constexpr std::uint64_t hour = 3'600'000 * ms;

std::vector<std::string_view> thp_modes()
{
    return {"default", "always", "never"};
}

std::vector<std::string_view> metadata_thp_modes()
{
    return {"disabled", "auto", "always"};
}

std::vector<std::string_view> percpu_modes()
{
    return {"disabled", "percpu", "phycpu"};
}

constexpr std::array allocators_table{
    OptionInfo{"glibc", object, false, "", 0, 0, nullptr, "GLIBC_TUNABLES"},
    OptionInfo{"jemalloc", object, false, "", 0, 0, nullptr, "MALLOC_CONF"},
    OptionInfo{"mimalloc", object, false, "", 0, 0, nullptr, "MIMALLOC_*"},
    OptionInfo{"tcmalloc", object, false, "", 0, 0, nullptr, "TCMALLOC_*"},
};

constexpr std::array glibc_table{
    OptionInfo{"arena_max", integer, false, "", 1, 4096, nullptr, "most arenas; default 8 per processor"},
    OptionInfo{"mmap_threshold", size, false, "", 0, any_size, nullptr,
               "from this size on each block is a mapping of its own; setting it ends its growth with what is freed"},
    OptionInfo{"mmap_max", integer, false, "", 0, 1'000'000, nullptr, "most such mappings at a time"},
    OptionInfo{"trim_threshold", size, false, "", 0, any_size, nullptr,
               "free memory at the heap's end beyond which it is returned"},
    OptionInfo{"top_pad", size, false, "", 0, any_size, nullptr, "what is taken beyond a request when the heap grows"},
    OptionInfo{"tcache_count", integer, false, "", 0, 65535, nullptr, "blocks of one size that a thread keeps"},
    OptionInfo{"tcache_max", size, false, "", 0, any_size, nullptr, "largest block that a thread keeps"},
    OptionInfo{"mxfast", size, false, "", 0, 160, nullptr, "largest block of the fast bins"},
    OptionInfo{"hugetlb", integer, false, "", 0, 2, nullptr, "1: transparent huge pages; 2: reserved huge pages"},
};
constexpr std::array<AllocatorSetting, 9> glibc_settings{{
    {"arena_max", "glibc.malloc.arena_max", plain},
    {"mmap_threshold", "glibc.malloc.mmap_threshold", plain},
    {"mmap_max", "glibc.malloc.mmap_max", plain},
    {"trim_threshold", "glibc.malloc.trim_threshold", plain},
    {"top_pad", "glibc.malloc.top_pad", plain},
    {"tcache_count", "glibc.malloc.tcache_count", plain},
    {"tcache_max", "glibc.malloc.tcache_max", plain},
    {"mxfast", "glibc.malloc.mxfast", plain},
    {"hugetlb", "glibc.malloc.hugetlb", plain},
}};

constexpr std::array jemalloc_table{
    OptionInfo{"narenas", integer, false, "", 1, 4096, nullptr, "arenas; default 4 per processor"},
    OptionInfo{"dirty_decay", duration, false, "", 0, hour, nullptr, "how long freed pages are kept before a purge"},
    OptionInfo{"muzzy_decay", duration, false, "", 0, hour, nullptr, "how long purged pages keep their place"},
    OptionInfo{"tcache", boolean, false, "", 0, 0, nullptr, "whether threads keep blocks"},
    OptionInfo{"tcache_max", size, false, "", 8, 8ULL << 20U, nullptr, "largest block that a thread keeps"},
    OptionInfo{"oversize_threshold", size, false, "", 0, any_size, nullptr,
               "from this size on blocks come from an arena of their own, which keeps no pages"},
    OptionInfo{"background_thread", boolean, false, "", 0, 0, nullptr, "a thread of its own purges"},
    OptionInfo{"retain", boolean, false, "", 0, 0, nullptr, "keeps address space instead of unmapping it"},
    OptionInfo{"thp", choice, false, "", 0, 0, thp_modes, "transparent huge pages of its mappings"},
    OptionInfo{"metadata_thp", choice, false, "", 0, 0, metadata_thp_modes, "huge pages of its own data"},
    OptionInfo{"percpu_arena", choice, false, "", 0, 0, percpu_modes, "an arena per processor instead of per thread"},
};
constexpr std::array<AllocatorSetting, 11> jemalloc_settings{{
    {"narenas", "narenas", plain},
    {"dirty_decay", "dirty_decay_ms", milliseconds},
    {"muzzy_decay", "muzzy_decay_ms", milliseconds},
    {"tcache", "tcache", word},
    {"tcache_max", "tcache_max", plain},
    {"oversize_threshold", "oversize_threshold", plain},
    {"background_thread", "background_thread", word},
    {"retain", "retain", word},
    {"thp", "thp", plain},
    {"metadata_thp", "metadata_thp", plain},
    {"percpu_arena", "percpu_arena", plain},
}};

constexpr std::array mimalloc_table{
    OptionInfo{"reserve_os_memory", size, false, "", 0, any_size, nullptr, "memory taken from the system at the start"},
    OptionInfo{"eager_commit", boolean, false, "", 0, 0, nullptr, "segments are made accessible whole"},
    OptionInfo{"large_os_pages", boolean, false, "", 0, 0, nullptr, "huge pages where the system gives them"},
    OptionInfo{"reset_delay", duration, false, "", 0, hour, nullptr,
               "how long free pages wait before they are returned"},
    OptionInfo{"segment_decommit_delay", duration, false, "", 0, hour, nullptr,
               "how long free segments wait before they are returned"},
    OptionInfo{"allow_decommit", boolean, false, "", 0, 0, nullptr, "free pages may be returned at all"},
    OptionInfo{"use_numa_nodes", integer, false, "", 0, 1024, nullptr, "pretend to this many NUMA nodes; 0: ask"},
    OptionInfo{"limit_os_alloc", boolean, false, "", 0, 0, nullptr, "take nothing beyond what was reserved"},
};
constexpr std::array<AllocatorSetting, 8> mimalloc_settings{{
    {"reserve_os_memory", "MIMALLOC_RESERVE_OS_MEMORY", plain},
    {"eager_commit", "MIMALLOC_EAGER_COMMIT", digit},
    {"large_os_pages", "MIMALLOC_LARGE_OS_PAGES", digit},
    {"reset_delay", "MIMALLOC_RESET_DELAY", milliseconds},
    {"segment_decommit_delay", "MIMALLOC_SEGMENT_DECOMMIT_DELAY", milliseconds},
    {"allow_decommit", "MIMALLOC_ALLOW_DECOMMIT", digit},
    {"use_numa_nodes", "MIMALLOC_USE_NUMA_NODES", plain},
    {"limit_os_alloc", "MIMALLOC_LIMIT_OS_ALLOC", digit},
}};

constexpr std::array tcmalloc_table{
    OptionInfo{"max_total_thread_cache", size, false, "", 0, any_size, nullptr,
               "bytes that all threads' caches may hold"},
    OptionInfo{"release_rate", integer, false, "", 0, 1000, nullptr, "how fast free pages are returned; 0: never"},
    OptionInfo{"aggressive_decommit", boolean, false, "", 0, 0, nullptr, "free pages are returned at once"},
    OptionInfo{"heap_limit", size, false, "", 0, any_size, nullptr,
               "soft limit, in whole MiB, beyond which pages return"},
    OptionInfo{"transfer_num_objects", integer, false, "", 1, 1'000'000, nullptr,
               "most blocks that move between a thread's cache and the central one at a time"},
};
constexpr std::array<AllocatorSetting, 5> tcmalloc_settings{{
    {"max_total_thread_cache", "TCMALLOC_MAX_TOTAL_THREAD_CACHE_BYTES", plain},
    {"release_rate", "TCMALLOC_RELEASE_RATE", plain},
    {"aggressive_decommit", "TCMALLOC_AGGRESSIVE_DECOMMIT", digit},
    {"heap_limit", "TCMALLOC_HEAP_LIMIT_MB", mebibytes},
    {"transfer_num_objects", "TCMALLOC_TRANSFER_NUM_OBJ", plain},
}};

struct AllocatorTables {
    std::string_view allocator;
    std::span<const OptionInfo> options;
    std::span<const AllocatorSetting> settings;
    SettingStyle style;
};

constexpr std::array<AllocatorTables, 4> all_tables{{
    {"glibc", glibc_table, glibc_settings, {"GLIBC_TUNABLES", '=', ':'}},
    {"jemalloc", jemalloc_table, jemalloc_settings, {"MALLOC_CONF", ':', ','}},
    {"mimalloc", mimalloc_table, mimalloc_settings, {}},
    {"tcmalloc", tcmalloc_table, tcmalloc_settings, {}},
}};

AllocatorTables tables_of(std::string_view allocator)
{
    for (const AllocatorTables& one : all_tables) {
        if (one.allocator == allocator) {
            return one;
        }
    }
    return {};
}

}  // namespace

std::span<const OptionInfo> allocators_options()
{
    return allocators_table;
}

std::span<const OptionInfo> allocator_options(std::string_view allocator)
{
    return tables_of(allocator).options;
}

std::span<const AllocatorSetting> allocator_settings(std::string_view allocator)
{
    return tables_of(allocator).settings;
}

SettingStyle setting_style(std::string_view allocator)
{
    return tables_of(allocator).style;
}

}  // namespace memsweep::scenarios
