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

// How a setting is written into the worker's environment.
enum class SettingForm : std::uint8_t {
    plain,         // a number of bytes or a count; a choice as it stands
    milliseconds,  // of a duration
    mebibytes,     // of a size
    word,          // true, false
    digit,         // 1, 0
};

// Settings that share a variable, joined, or (variable empty) have one each.
struct SettingStyle {
    std::string_view variable;
    char assign{};
    char separator{};
};

struct NoDefaults {};

struct Setting {
    OptionInfo option;
    std::string_view target;  // the name of the option in the variable, or of the variable itself
    SettingForm form{};
};

Setting number_of(std::string_view key, OptionKind kind, std::uint64_t min, std::uint64_t max,
                  std::string_view variable, SettingForm form, std::string_view help)
{
    auto row = rows::key<NoDefaults>(key, kind, help);
    row.option.min = min;
    row.option.max = max;
    return {std::move(row.option), variable, form};
}

Setting switch_of(std::string_view key, std::string_view variable, SettingForm form, std::string_view help)
{
    return {rows::key<NoDefaults>(key, OptionKind::boolean, help).option, variable, form};
}

Setting word_of(std::string_view key, std::vector<std::string_view> (*choices)(), std::string_view variable,
                std::string_view help)
{
    auto row = rows::key<NoDefaults>(key, OptionKind::choice, help);
    row.option.choices = choices;
    return {std::move(row.option), variable, SettingForm::plain};
}

// What an allocator may be told.
struct AllocatorSettings {
    std::string_view allocator;
    SettingStyle style;
    std::vector<Setting> settings;
    std::vector<OptionInfo> options;  // of the settings

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
         {"GLIBC_TUNABLES", '=', ':'},
         {
             number_of("arena_max", integer, 1, 4096, "glibc.malloc.arena_max", SettingForm::plain,
                       "most arenas; default 8 per processor"),
             number_of(
                 "mmap_threshold", size, 0, any_size, "glibc.malloc.mmap_threshold", SettingForm::plain,
                 "from this size on each block is a mapping of its own; setting it ends its growth with what is freed"),
             number_of("mmap_max", integer, 0, 1'000'000, "glibc.malloc.mmap_max", SettingForm::plain,
                       "most such mappings at a time"),
             number_of("trim_threshold", size, 0, any_size, "glibc.malloc.trim_threshold", SettingForm::plain,
                       "free memory at the heap's end beyond which it is returned"),
             number_of("top_pad", size, 0, any_size, "glibc.malloc.top_pad", SettingForm::plain,
                       "what is taken beyond a request when the heap grows"),
             number_of("tcache_count", integer, 0, 65535, "glibc.malloc.tcache_count", SettingForm::plain,
                       "blocks of one size that a thread keeps"),
             number_of("tcache_max", size, 0, any_size, "glibc.malloc.tcache_max", SettingForm::plain,
                       "largest block that a thread keeps"),
             number_of("mxfast", size, 0, 160, "glibc.malloc.mxfast", SettingForm::plain,
                       "largest block of the fast bins"),
             number_of("hugetlb", integer, 0, 2, "glibc.malloc.hugetlb", SettingForm::plain,
                       "1: transparent huge pages; 2: reserved huge pages"),
         }},
        {"jemalloc",
         {"MALLOC_CONF", ':', ','},
         {
             number_of("narenas", integer, 1, 4096, "narenas", SettingForm::plain, "arenas; default 4 per processor"),
             number_of("dirty_decay", duration, 0, hour, "dirty_decay_ms", SettingForm::milliseconds,
                       "how long freed pages are kept before a purge"),
             number_of("muzzy_decay", duration, 0, hour, "muzzy_decay_ms", SettingForm::milliseconds,
                       "how long purged pages keep their place"),
             switch_of("tcache", "tcache", SettingForm::word, "whether threads keep blocks"),
             number_of("tcache_max", size, 8, 8ULL << 20U, "tcache_max", SettingForm::plain,
                       "largest block that a thread keeps"),
             number_of("oversize_threshold", size, 0, any_size, "oversize_threshold", SettingForm::plain,
                       "from this size on blocks come from an arena of their own, which keeps no pages"),
             switch_of("background_thread", "background_thread", SettingForm::word, "a thread of its own purges"),
             switch_of("retain", "retain", SettingForm::word, "keeps address space instead of unmapping it"),
             word_of("thp", thp_modes, "thp", "transparent huge pages of its mappings"),
             word_of("metadata_thp", metadata_thp_modes, "metadata_thp", "huge pages of its own data"),
             word_of("percpu_arena", percpu_modes, "percpu_arena", "an arena per processor instead of per thread"),
         }},
        {"mimalloc",
         {},
         {
             number_of("reserve_os_memory", size, 0, any_size, "MIMALLOC_RESERVE_OS_MEMORY", SettingForm::plain,
                       "memory taken from the system at the start"),
             switch_of("eager_commit", "MIMALLOC_EAGER_COMMIT", SettingForm::digit,
                       "segments are made accessible whole"),
             switch_of("large_os_pages", "MIMALLOC_LARGE_OS_PAGES", SettingForm::digit,
                       "huge pages where the system gives them"),
             number_of("reset_delay", duration, 0, hour, "MIMALLOC_RESET_DELAY", SettingForm::milliseconds,
                       "how long free pages wait before they are returned"),
             number_of("segment_decommit_delay", duration, 0, hour, "MIMALLOC_SEGMENT_DECOMMIT_DELAY",
                       SettingForm::milliseconds, "how long free segments wait before they are returned"),
             switch_of("allow_decommit", "MIMALLOC_ALLOW_DECOMMIT", SettingForm::digit,
                       "free pages may be returned at all"),
             number_of("use_numa_nodes", integer, 0, 1024, "MIMALLOC_USE_NUMA_NODES", SettingForm::plain,
                       "pretend to this many NUMA nodes; 0: ask"),
             switch_of("limit_os_alloc", "MIMALLOC_LIMIT_OS_ALLOC", SettingForm::digit,
                       "take nothing beyond what was reserved"),
         }},
        {"tcmalloc",
         {},
         {
             number_of("max_total_thread_cache", size, 0, any_size, "TCMALLOC_MAX_TOTAL_THREAD_CACHE_BYTES",
                       SettingForm::plain, "bytes that all threads' caches may hold"),
             number_of("release_rate", integer, 0, 1000, "TCMALLOC_RELEASE_RATE", SettingForm::plain,
                       "how fast free pages are returned; 0: never"),
             switch_of("aggressive_decommit", "TCMALLOC_AGGRESSIVE_DECOMMIT", SettingForm::digit,
                       "free pages are returned at once"),
             number_of("heap_limit", size, 0, any_size, "TCMALLOC_HEAP_LIMIT_MB", SettingForm::mebibytes,
                       "soft limit, in whole MiB, beyond which pages return"),
             number_of("transfer_num_objects", integer, 1, 1'000'000, "TCMALLOC_TRANSFER_NUM_OBJ", SettingForm::plain,
                       "most blocks that move between a thread's cache and the central one at a time"),
         }},
    };
    return all;
}

const AllocatorSettings* find_settings(std::string_view allocator)
{
    for (const AllocatorSettings& one : all_settings()) {
        if (one.allocator == allocator) {
            return &one;
        }
    }
    return nullptr;
}

std::string written(const Value& value, SettingForm form)
{
    constexpr std::uint64_t ns_per_ms = 1'000'000;
    if (const auto* flag = std::get_if<bool>(&value)) {
        const bool as_digit = form == SettingForm::digit;
        return *flag ? (as_digit ? "1" : "true") : (as_digit ? "0" : "false");
    }
    const auto* number = std::get_if<std::uint64_t>(&value);
    if (number == nullptr) {
        return std::get<std::string>(value);
    }
    switch (form) {
    case SettingForm::milliseconds:
        return std::to_string(*number / ns_per_ms);
    case SettingForm::mebibytes:
        return std::to_string(*number >> 20U);
    case SettingForm::plain:
    case SettingForm::word:
    case SettingForm::digit:
        break;
    }
    return std::to_string(*number);
}

model::Variables read_settings(const AllocatorSettings& allocator, const Node& node, const Reading& reading)
{
    Fields fields{node, fmt::format("\"{}\"", allocator.allocator), reading};
    fields.check(allocator.options);
    const SettingStyle& style = allocator.style;
    model::Variables variables;
    std::string joined;
    for (const Setting& setting : allocator.settings) {
        const auto value = fields.value(setting.option);  // empty: absent, or reported
        if (value && style.variable.empty()) {
            variables.emplace_back(setting.target, written(*value, setting.form));
        } else if (value) {
            joined += fmt::format("{}{}{}{}", joined.empty() ? "" : std::string(1, style.separator), setting.target,
                                  style.assign, written(*value, setting.form));
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

model::AllocatorSpec read_allocator(const Node* node, const std::vector<model::Param>& params, const Reading& reading)
{
    model::AllocatorSpec spec;
    const auto named = std::ranges::find(params, allocator_axis, &model::Param::name);
    if (named != params.end()) {
        spec.name = model::to_text(named->value);
    }
    if (node == nullptr) {
        return spec;
    }
    Fields fields{*node, "\"allocators\"", reading};
    fields.check(allocators_options());
    for (const AllocatorSettings& one : all_settings()) {
        if (const Node* settings = fields.raw(one.allocator)) {
            model::Variables variables = read_settings(one, *settings, reading);
            if (spec.name == one.allocator) {
                spec.environment = std::move(variables);
            }
        }
    }
    return spec;
}

}  // namespace memsweep::scenarios
