// Settings of allocators: what a scenario may say, and what becomes of it in the worker's environment.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/model/allocator.hpp"
#include "scenarios/reader/case_reader.hpp"
#include "scenarios/reader/option_tables.hpp"

namespace memsweep::scenarios {
namespace {

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

// How settings are written into the worker's environment. Those that share a variable are joined; where it is empty,
// each has one of its own.
struct SettingStyle {
    std::string_view variable;
    std::string_view prefix;  // begins each name in the variable
    char assign{};
    char separator{};
    bool digits{};  // 1 and 0 for true and false
};

struct NoDefaults {};

// Sizes are written in bytes, durations in milliseconds.
struct Setting {
    OptionInfo option;
    std::string_view target;  // the name of the option in the variable, or of the variable itself
    bool mebibytes{};         // a size is written in MiB
};

Setting number_of(std::string_view key, OptionKind kind, std::uint64_t min, std::uint64_t max, std::string_view target,
                  std::string_view help, bool mebibytes = false)
{
    return {rows::key<NoDefaults>(key, kind, help).within(min, max).option, target, mebibytes};
}

Setting switch_of(std::string_view key, std::string_view target, std::string_view help)
{
    return {rows::key<NoDefaults>(key, OptionKind::boolean, help).option, target};
}

Setting word_of(std::string_view key, std::vector<std::string_view> (*choices)(), std::string_view help)
{
    return {rows::key<NoDefaults>(key, OptionKind::choice, help).one_of(choices).option, key};
}

// What an allocator may be told.
struct AllocatorSettings {
    std::string_view allocator;
    SettingStyle style;
    std::vector<Setting> settings;
    std::vector<OptionInfo> options;  // those of `settings`

    AllocatorSettings(std::string_view name, SettingStyle how, std::vector<Setting> all)
        : allocator{name}, style{how}, settings{std::move(all)}
    {
        for (const Setting& setting : settings) {
            options.push_back(setting.option);
        }
    }
};

const std::vector<AllocatorSettings>& all_settings()
{
    using enum OptionKind;
    static const std::vector<AllocatorSettings> all{
        {"glibc",
         {"GLIBC_TUNABLES", "glibc.malloc.", '=', ':'},
         {
             number_of("arena_max", integer, 1, 4096, "arena_max", "most arenas; default 8 per processor"),
             number_of(
                 "mmap_threshold", size, 0, any_size, "mmap_threshold",
                 "from this size on each block is a mapping of its own; setting it ends its growth with what is freed"),
             number_of("mmap_max", integer, 0, 1'000'000, "mmap_max", "most such mappings at a time"),
             number_of("trim_threshold", size, 0, any_size, "trim_threshold",
                       "free memory at the heap's end beyond which it is returned"),
             number_of("top_pad", size, 0, any_size, "top_pad", "what is taken beyond a request when the heap grows"),
             number_of("tcache_count", integer, 0, 65535, "tcache_count", "blocks of one size that a thread keeps"),
             number_of("tcache_max", size, 0, any_size, "tcache_max", "largest block that a thread keeps"),
             number_of("mxfast", size, 0, 160, "mxfast", "largest block of the fast bins"),
             number_of("hugetlb", integer, 0, 2, "hugetlb", "1: transparent huge pages; 2: reserved huge pages"),
         }},
        {"jemalloc",
         {"MALLOC_CONF", "", ':', ','},
         {
             number_of("narenas", integer, 1, 4096, "narenas", "arenas; default 4 per processor"),
             number_of("dirty_decay", duration, 0, hour, "dirty_decay_ms",
                       "how long freed pages are kept before a purge"),
             number_of("muzzy_decay", duration, 0, hour, "muzzy_decay_ms", "how long purged pages keep their place"),
             switch_of("tcache", "tcache", "whether threads keep blocks"),
             number_of("tcache_max", size, 8, 8ULL << 20U, "tcache_max", "largest block that a thread keeps"),
             number_of("oversize_threshold", size, 0, any_size, "oversize_threshold",
                       "from this size on blocks come from an arena of their own, which keeps no pages"),
             switch_of("background_thread", "background_thread", "a thread of its own purges"),
             switch_of("retain", "retain", "keeps address space instead of unmapping it"),
             word_of("thp", thp_modes, "transparent huge pages of its mappings"),
             word_of("metadata_thp", metadata_thp_modes, "huge pages of its own data"),
             word_of("percpu_arena", percpu_modes, "an arena per processor instead of per thread"),
         }},
        {"mimalloc",
         {.digits = true},
         {
             number_of("reserve_os_memory", size, 0, any_size, "MIMALLOC_RESERVE_OS_MEMORY",
                       "memory taken from the system at the start"),
             switch_of("eager_commit", "MIMALLOC_EAGER_COMMIT", "segments are made accessible whole"),
             switch_of("large_os_pages", "MIMALLOC_LARGE_OS_PAGES", "huge pages where the system gives them"),
             number_of("reset_delay", duration, 0, hour, "MIMALLOC_RESET_DELAY",
                       "how long free pages wait before they are returned"),
             number_of("segment_decommit_delay", duration, 0, hour, "MIMALLOC_SEGMENT_DECOMMIT_DELAY",
                       "how long free segments wait before they are returned"),
             switch_of("allow_decommit", "MIMALLOC_ALLOW_DECOMMIT", "free pages may be returned at all"),
             number_of("use_numa_nodes", integer, 0, 1024, "MIMALLOC_USE_NUMA_NODES",
                       "pretend to this many NUMA nodes; 0: ask"),
             switch_of("limit_os_alloc", "MIMALLOC_LIMIT_OS_ALLOC", "take nothing beyond what was reserved"),
         }},
        {"tcmalloc",
         {.digits = true},
         {
             number_of("max_total_thread_cache", size, 0, any_size, "TCMALLOC_MAX_TOTAL_THREAD_CACHE_BYTES",
                       "bytes that all threads' caches may hold"),
             number_of("release_rate", integer, 0, 1000, "TCMALLOC_RELEASE_RATE",
                       "how fast free pages are returned; 0: never"),
             switch_of("aggressive_decommit", "TCMALLOC_AGGRESSIVE_DECOMMIT", "free pages are returned at once"),
             number_of("heap_limit", size, 0, any_size, "TCMALLOC_HEAP_LIMIT_MB",
                       "soft limit, in whole MiB, beyond which pages return", true),
             number_of("transfer_num_objects", integer, 1, 1'000'000, "TCMALLOC_TRANSFER_NUM_OBJ",
                       "most blocks that move between a thread's cache and the central one at a time"),
         }},
    };
    return all;
}

const AllocatorSettings* find_settings(std::string_view allocator)
{
    const auto found = std::ranges::find(all_settings(), allocator, &AllocatorSettings::allocator);
    return found == all_settings().end() ? nullptr : &*found;
}

std::string written(const Value& value, const Setting& setting, const SettingStyle& style)
{
    constexpr std::uint64_t ns_per_ms = 1'000'000;
    if (const auto* flag = std::get_if<bool>(&value)) {
        return style.digits ? (*flag ? "1" : "0") : (*flag ? "true" : "false");
    }
    const auto* number = std::get_if<std::uint64_t>(&value);
    if (number == nullptr) {
        return std::get<std::string>(value);
    }
    const std::uint64_t divisor = setting.option.kind == OptionKind::duration ? ns_per_ms
                                  : setting.mebibytes                         ? 1U << 20U
                                                                              : 1;
    return std::to_string(*number / divisor);
}

model::Variables read_settings(const AllocatorSettings& allocator, const SourceNode& node, const Reading& reading)
{
    Fields fields{node, fmt::format("\"{}\"", allocator.allocator), reading};
    fields.check(allocator.options);
    const SettingStyle& style = allocator.style;
    model::Variables variables;
    std::string joined;
    for (const Setting& setting : allocator.settings) {
        const auto value = fields.value(setting.option);  // empty: absent, or reported
        if (value && style.variable.empty()) {
            variables.emplace_back(setting.target, written(*value, setting, style));
        } else if (value) {
            joined += fmt::format("{}{}{}{}{}", joined.empty() ? "" : std::string(1, style.separator), style.prefix,
                                  setting.target, style.assign, written(*value, setting, style));
        }
    }
    if (!joined.empty()) {
        variables.emplace_back(style.variable, joined);
    }
    return variables;
}

}  // namespace

std::span<const OptionInfo> allocators_options()
{
    static const OptionTable<NoDefaults> table{
        rows::key<NoDefaults>("glibc", OptionKind::object, "GLIBC_TUNABLES"),
        rows::key<NoDefaults>("jemalloc", OptionKind::object, "MALLOC_CONF"),
        rows::key<NoDefaults>("mimalloc", OptionKind::object, "MIMALLOC_*"),
        rows::key<NoDefaults>("tcmalloc", OptionKind::object, "TCMALLOC_*"),
    };
    return table.options();
}

std::span<const OptionInfo> allocator_options(std::string_view allocator)
{
    const AllocatorSettings* const settings = find_settings(allocator);
    return settings == nullptr ? std::span<const OptionInfo>{} : std::span<const OptionInfo>{settings->options};
}

model::AllocatorSpec read_allocator(const SourceNode* node, const std::vector<model::Param>& params,
                                    const Reading& reading)
{
    model::AllocatorSpec spec;
    if (const model::Scalar* name = model::find_value(params, allocator_axis)) {
        spec.name = model::to_text(*name);
    }
    if (node == nullptr) {
        return spec;
    }
    Fields fields{*node, "\"allocators\"", reading};
    fields.check(allocators_options());
    for (const AllocatorSettings& one : all_settings()) {
        if (const SourceNode* settings = fields.raw(one.allocator)) {
            model::Variables variables = read_settings(one, *settings, reading);
            if (spec.name == one.allocator) {
                spec.environment = std::move(variables);
            }
        }
    }
    return spec;
}

}  // namespace memsweep::scenarios
