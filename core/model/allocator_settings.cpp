#include "core/model/allocator_settings.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/base/quantity.hpp"

namespace memsweep::model {
namespace {

using enum SettingKind;
constexpr std::uint64_t any_bytes = std::numeric_limits<std::int64_t>::max();  // no allocator gives more
constexpr std::uint64_t ns_per_ms = 1'000'000;
constexpr std::uint64_t ns_per_second = 1000 * ns_per_ms;
constexpr std::uint64_t longest = 3600 * ns_per_second;
constexpr std::uint64_t kibibyte = 1U << 10U;
constexpr std::uint64_t mebibyte = 1U << 20U;

constexpr std::array<std::string_view, 3> thp_words{"default", "always", "never"};
constexpr std::array<std::string_view, 3> metadata_thp_words{"disabled", "auto", "always"};
constexpr std::array<std::string_view, 3> percpu_words{"disabled", "percpu", "phycpu"};

constexpr auto glibc_settings = std::to_array<AllocatorSetting>({
    {"arena_max", "arena_max", integer, 1, 4096, "most arenas; default 8 per processor"},
    {"mmap_threshold", "mmap_threshold", size, 0, any_bytes,
     "blocks of this size and more get a mapping of their own; once set, the threshold no longer grows as such blocks "
     "are freed"},
    {"mmap_max", "mmap_max", integer, 0, 1'000'000, "most blocks with a mapping of their own at one time"},
    {"trim_threshold", "trim_threshold", size, 0, any_bytes,
     "the heap's end is returned once more than this is free there"},
    {"top_pad", "top_pad", size, 0, any_bytes, "memory taken beyond the request when the heap grows"},
    {"tcache_count", "tcache_count", integer, 0, 65535, "blocks of one size that a thread keeps"},
    {"tcache_max", "tcache_max", size, 0, any_bytes, "largest block that a thread keeps"},
    {"mxfast", "mxfast", size, 0, 160, "largest block of the fast bins"},
    {"hugetlb", "hugetlb", integer, 0, 2, "1: transparent huge pages; 2: reserved huge pages"},
});

constexpr auto jemalloc_settings = std::to_array<AllocatorSetting>({
    {"narenas", "narenas", integer, 1, 4096, "arenas; default 4 per processor"},
    {"dirty_decay", "dirty_decay_ms", duration, 0, longest, "how long freed pages are kept before a purge"},
    {"muzzy_decay", "muzzy_decay_ms", duration, 0, longest,
     "how long lazily purged pages (MADV_FREE) are kept before they are purged for good"},
    {"tcache", "tcache", toggle, 0, 1, "whether threads keep blocks"},
    {"tcache_max", "tcache_max", size, 8, 8 * mebibyte, "largest block that a thread keeps"},
    {.name = "lg_tcache_max",
     .target = "lg_tcache_max",
     .kind = integer,
     .min = 3,
     .max = 23,
     .help = "tcache_max as a power of two, for versions before 5.3",
     .is_raw = true},
    {"oversize_threshold", "oversize_threshold", size, 0, any_bytes,
     "blocks of this size and more come from an arena of their own, which keeps no pages"},
    {"background_thread", "background_thread", toggle, 0, 1, "a background thread purges"},
    {"retain", "retain", toggle, 0, 1, "keeps address space instead of unmapping it"},
    {"thp", "thp", word, 0, 0, "whether its mappings use transparent huge pages", thp_words},
    {"metadata_thp", "metadata_thp", word, 0, 0, "whether its own data use huge pages", metadata_thp_words},
    {"percpu_arena", "percpu_arena", word, 0, 0, "an arena per processor instead of per thread", percpu_words},
});

constexpr auto mimalloc_settings = std::to_array<AllocatorSetting>({
    {"reserve_os_memory", "MIMALLOC_RESERVE_OS_MEMORY", size, 0, any_bytes,
     "memory taken from the system at the start"},
    {"eager_commit", "MIMALLOC_EAGER_COMMIT", toggle, 0, 1, "segments are committed whole"},
    {"large_os_pages", "MIMALLOC_LARGE_OS_PAGES", toggle, 0, 1, "huge pages, if the system provides them"},
    {"reset_delay", "MIMALLOC_RESET_DELAY", duration, 0, longest, "how long free pages wait before they are returned"},
    {"segment_decommit_delay", "MIMALLOC_SEGMENT_DECOMMIT_DELAY", duration, 0, longest,
     "how long free segments wait before they are returned"},
    {.name = "decommit_delay",
     .target = "MIMALLOC_DECOMMIT_DELAY",
     .kind = duration,
     .min = 0,
     .max = longest,
     .help = "reset_delay, as version 2.0 calls it",
     .is_raw = true},
    {"allow_decommit", "MIMALLOC_ALLOW_DECOMMIT", toggle, 0, 1, "whether free pages may be returned"},
    {"use_numa_nodes", "MIMALLOC_USE_NUMA_NODES", integer, 0, 1024,
     "act as if there were this many NUMA nodes; 0: ask the system"},
    {"limit_os_alloc", "MIMALLOC_LIMIT_OS_ALLOC", toggle, 0, 1, "take nothing beyond what was reserved"},
});

constexpr auto tcmalloc_settings = std::to_array<AllocatorSetting>({
    {"max_total_thread_cache", "TCMALLOC_MAX_TOTAL_THREAD_CACHE_BYTES", size, 0, any_bytes,
     "bytes that all threads' caches may hold"},
    {"release_rate", "TCMALLOC_RELEASE_RATE", integer, 0, 1000, "how fast free pages are returned; 0: never"},
    {"aggressive_decommit", "TCMALLOC_AGGRESSIVE_DECOMMIT", toggle, 0, 1, "free pages are returned at once"},
    {"heap_limit", "TCMALLOC_HEAP_LIMIT_MB", mebibytes, 0, any_bytes,
     "soft limit, in whole MiB, beyond which pages return"},
    {"transfer_num_objects", "TCMALLOC_TRANSFER_NUM_OBJ", integer, 1, 1'000'000,
     "most blocks that move between a thread's cache and the central one at a time"},
});

constexpr auto styles = std::to_array<SettingStyle>({
    {"glibc", "GLIBC_TUNABLES", "glibc.malloc.", '=', ':', false, glibc_settings},
    {"jemalloc", "MALLOC_CONF", "", ':', ',', false, jemalloc_settings},
    {"mimalloc", "", "", '\0', '\0', true, mimalloc_settings},
    {"tcmalloc", "", "", '\0', '\0', true, tcmalloc_settings},
});

constexpr std::uint64_t n(std::uint64_t number)
{
    return number;
}

constexpr auto choices = std::to_array<AllocatorChoice>({
    {"mimalloc", {{{"large_os_pages", true}}}},
    {"glibc", {{{"arena_max", n(1)}}}, TryOnly::with_threads},
    {"jemalloc",
     {{{"background_thread", true}, {"dirty_decay", ns_per_second}, {"muzzy_decay", n(0)}}},
     TryOnly::when_idle,
     true},
    {"glibc", {{{"hugetlb", n(1)}}}},
    {"tcmalloc", {{{"release_rate", n(10)}}}},
    {"glibc", {{{"tcache_count", n(0)}}}},
    {"mimalloc", {{{"decommit_delay", n(0)}, {"segment_decommit_delay", n(0)}}}},
    {"glibc", {{{"trim_threshold", 128 * kibibyte}}}},
    {"glibc", {{{"mmap_threshold", 128 * kibibyte}}}},
    {"jemalloc", {{{"dirty_decay", n(0)}, {"muzzy_decay", n(0)}}}},
    {"mimalloc"},
    {"jemalloc"},
    {"glibc", {{{"mxfast", n(0)}}}},
    {"tcmalloc", {{{"aggressive_decommit", true}}}},
    {"glibc", {{{"tcache_count", n(0)}, {"trim_threshold", 128 * kibibyte}}}},
    {"glibc", {{{"mxfast", n(0)}, {"tcache_count", n(0)}, {"trim_threshold", 128 * kibibyte}}}},
    {"glibc", {{{"arena_max", n(2)}}}, TryOnly::with_threads},
    {"glibc", {{{"arena_max", n(1)}, {"trim_threshold", 128 * kibibyte}}}, TryOnly::with_threads},
    {"jemalloc", {{{"narenas", n(1)}, {"dirty_decay", n(0)}, {"muzzy_decay", n(0)}}}, TryOnly::with_threads},
    {"tcmalloc"},
    {"jemalloc", {{{"narenas", n(1)}, {"tcache", false}}}},
    {"glibc", {{{"mmap_threshold", 32 * kibibyte}, {"trim_threshold", 32 * kibibyte}}}},
    {"jemalloc", {{{"thp", std::string_view{"always"}}}}, TryOnly::with_large_process},
});

}  // namespace

std::span<const SettingStyle> allocator_settings()
{
    return styles;
}

const SettingStyle* find_setting_style(std::string_view allocator)
{
    const auto found = std::ranges::find(styles, allocator, &SettingStyle::allocator);
    return found == styles.end() ? nullptr : &*found;
}

const AllocatorSetting* find_setting(std::string_view allocator, std::string_view name)
{
    const SettingStyle* const style = find_setting_style(allocator);
    if (style == nullptr) {
        return nullptr;
    }
    const auto found = std::ranges::find(style->settings, name, &AllocatorSetting::name);
    return found == style->settings.end() ? nullptr : &*found;
}

std::string written_value(const SettingStyle& style, const AllocatorSetting& setting, const SettingValue& value)
{
    if (const auto* flag = std::get_if<bool>(&value)) {
        return style.has_digits ? (*flag ? "1" : "0") : (*flag ? "true" : "false");
    }
    if (const auto* text = std::get_if<std::string_view>(&value)) {
        return std::string{*text};
    }
    const auto* number = std::get_if<std::uint64_t>(&value);
    if (number == nullptr) {
        return "-1";
    }
    const std::uint64_t divisor = setting.kind == duration ? ns_per_ms : setting.kind == mebibytes ? mebibyte : 1;
    return std::to_string(*number / divisor);
}

std::string setting_text(std::string_view allocator, const ChosenSetting& chosen)
{
    const AllocatorSetting& setting = *find_setting(allocator, chosen.name);
    const auto* number = std::get_if<std::uint64_t>(&chosen.value);
    std::string value;
    if (std::holds_alternative<Never>(chosen.value)) {
        value = "never";
    } else if (number != nullptr && (setting.kind == size || setting.kind == mebibytes)) {
        value = base::exact_size(*number);
    } else if (number != nullptr && setting.kind == duration) {
        value = *number % ns_per_second == 0 ? fmt::format("{}s", *number / ns_per_second)
                                             : fmt::format("{}ms", *number / ns_per_ms);
    } else {
        value = written_value({.allocator = allocator}, setting, chosen.value);
    }
    return fmt::format("{}={}", chosen.name, value);
}

Variables to_variables(std::string_view allocator, std::span<const ChosenSetting> chosen)
{
    const SettingStyle& style = *find_setting_style(allocator);
    Variables variables;
    for (const ChosenSetting& one : chosen) {
        const AllocatorSetting& setting = *find_setting(allocator, one.name);
        const std::string value = written_value(style, setting, one.value);
        if (style.variable.empty()) {
            variables.emplace_back(setting.target, value);
        } else {
            add_variable(variables, style.variable,
                         fmt::format("{}{}{}{}", style.prefix, setting.target, style.assign, value));
        }
    }
    return variables;
}

std::optional<char> list_separator(std::string_view variable)
{
    const auto found = std::ranges::find(styles, variable, &SettingStyle::variable);
    return found == styles.end() || variable.empty() ? std::nullopt : std::optional{found->separator};
}

void add_variable(Variables& variables, std::string_view name, std::string_view value)
{
    const auto there = std::ranges::find(variables, name, &Variables::value_type::first);
    if (there == variables.end()) {
        variables.emplace_back(name, value);
        return;
    }
    const std::optional<char> separator = list_separator(name);
    there->second = separator && !there->second.empty() ? fmt::format("{}{}{}", there->second, *separator, value)
                                                        : std::string{value};
}

std::span<const ChosenSetting> AllocatorChoice::settings() const
{
    const auto end = std::ranges::find(chosen, std::string_view{}, &ChosenSetting::name);
    return {chosen.begin(), end};
}

std::span<const AllocatorChoice> allocator_choices()
{
    return choices;
}

std::string choice_text(const AllocatorChoice& choice)
{
    std::string text{choice.allocator};
    for (const ChosenSetting& one : choice.settings()) {
        text += " " + setting_text(choice.allocator, one);
    }
    return text;
}

}  // namespace memsweep::model
