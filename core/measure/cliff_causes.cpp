#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "core/base/text.hpp"
#include "core/measure/cliffs.hpp"

namespace memsweep::measure {
namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;
constexpr std::uint64_t page = 4 * kib;

struct Version {
    std::uint64_t major{};
    std::uint64_t minor{};
    friend auto operator<=>(const Version&, const Version&) = default;
};

// The first two numbers of a text.
std::optional<Version> version_of(std::string_view text)
{
    const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
    const auto take_number = [&] {
        const auto end = std::ranges::find_if_not(text, is_digit);
        const std::string_view digits = text.substr(0, static_cast<std::size_t>(end - text.begin()));
        text.remove_prefix(digits.size());
        return base::parse_number(digits);
    };
    text.remove_prefix(static_cast<std::size_t>(std::ranges::find_if(text, is_digit) - text.begin()));
    const auto major = take_number();
    if (!major) {
        return std::nullopt;
    }
    text.remove_prefix(text.starts_with('.') ? 1 : 0);
    return Version{*major, take_number().value_or(0)};
}

// The settings of one allocator, by the names that its manual gives them.
class Settings {
  public:
    explicit Settings(const AllocatorFacts& allocator)
        : variables_{allocator.settings}, version_{version_of(allocator.version).value_or(presumed(allocator.name))}
    {
    }

    [[nodiscard]] bool is_from(Version version) const { return version_ >= version; }

    [[nodiscard]] std::string_view variable(std::string_view name) const
    {
        const auto found = std::find_if(variables_.rbegin(), variables_.rend(),
                                        [&](const auto& variable) { return variable.first == name; });
        return found == variables_.rend() ? std::string_view{} : std::string_view{found->second};
    }

    // The last element "NAME<equals>VALUE" of a list in a variable; empty: there is none.
    [[nodiscard]] std::string_view element(std::string_view list, char between, std::string_view name,
                                           char equals) const
    {
        std::string_view rest = variable(list);
        std::string_view value;
        while (!rest.empty()) {
            std::string_view element = base::take_until(rest, between);
            const std::string_view key = base::trimmed(base::take_until(element, equals));
            value = key == name ? base::trimmed(element) : value;
        }
        return value;
    }

    [[nodiscard]] std::optional<std::uint64_t> glibc(std::string_view name, std::string_view variable_name = {}) const
    {
        const auto tunable = base::parse_number(element("GLIBC_TUNABLES", ':', name, '='));
        return tunable || variable_name.empty() ? tunable : base::parse_number(variable(variable_name));
    }

    [[nodiscard]] std::string_view jemalloc(std::string_view name) const
    {
        return element("MALLOC_CONF", ',', name, ':');
    }

  private:
    // Debian 12's, of an allocator that does not say its own.
    [[nodiscard]] static Version presumed(std::string_view name)
    {
        return name == "glibc"      ? Version{2, 36}
               : name == "jemalloc" ? Version{5, 3}
               : name == "mimalloc" ? Version{2, 0}
                                    : Version{2, 10};
    }

    const model::Variables& variables_;
    Version version_;
};

// Where the last cheap size lies.
struct Place {
    std::uint64_t lowest{};
    std::uint64_t highest{};
};
using MaybePlace = std::optional<Place>;

// glibc

constexpr std::uint64_t glibc_header = 8;
constexpr std::uint64_t glibc_grain = 16;
constexpr std::uint64_t glibc_least_chunk = 32;

std::uint64_t glibc_chunk(std::uint64_t bytes)
{
    return std::max((bytes + glibc_header + glibc_grain - 1) / glibc_grain * glibc_grain, glibc_least_chunk);
}

// The largest size that the thread cache takes; 0: there is no such cache. Larger ones than 1,032 bytes lie in classes
// of powers of two from 2.42 on, so that the limit may lie up to twice as high.
std::uint64_t glibc_thread_cache(const Settings& settings)
{
    constexpr std::uint64_t most_bins = 1032;
    if (!settings.is_from({2, 26}) || settings.glibc("glibc.malloc.tcache_count") == std::uint64_t{0}) {
        return 0;
    }
    const std::uint64_t asked = settings.glibc("glibc.malloc.tcache_max").value_or(most_bins);
    const std::uint64_t most = settings.is_from({2, 42}) ? 4 * mib : most_bins;
    return glibc_chunk(asked <= most ? asked : most_bins) - glibc_header;  // a value that is too large is not taken
}

MaybePlace end_of_glibc_thread_cache(const Settings& settings)
{
    const std::uint64_t end = glibc_thread_cache(settings);
    if (end == 0) {
        return std::nullopt;
    }
    return Place{end, end > 1032 ? 2 * end : end};
}

// Fast bins serve what the thread cache does not take.
MaybePlace end_of_glibc_fast_bins(const Settings& settings)
{
    constexpr std::uint64_t largest = 160;  // that the tunable may name
    const std::uint64_t asked = settings.glibc("glibc.malloc.mxfast").value_or(128);
    const std::uint64_t chunk = (std::min(asked, largest) + glibc_header) / glibc_grain * glibc_grain;
    if (chunk < glibc_least_chunk || chunk - glibc_header <= glibc_thread_cache(settings)) {
        return std::nullopt;
    }
    return Place{chunk - glibc_header, chunk - glibc_header};
}

// Setting any of these ends the adjustment of the thresholds (mallopt(3)).
bool glibc_thresholds_stay(const Settings& settings)
{
    return settings.glibc("glibc.malloc.mmap_threshold", "MALLOC_MMAP_THRESHOLD_") ||
           settings.glibc("glibc.malloc.trim_threshold", "MALLOC_TRIM_THRESHOLD_") ||
           settings.glibc("glibc.malloc.top_pad", "MALLOC_TOP_PAD_") ||
           settings.glibc("glibc.malloc.mmap_max", "MALLOC_MMAP_MAX_");
}

constexpr std::uint64_t glibc_threshold = 128 * kib;

bool glibc_maps_blocks(const Settings& settings)
{
    return settings.glibc("glibc.malloc.mmap_max", "MALLOC_MMAP_MAX_") != std::uint64_t{0};
}

MaybePlace highest_mmap_threshold(const Settings& settings)
{
    constexpr std::uint64_t most = 32 * mib;
    if (glibc_thresholds_stay(settings)) {
        return std::nullopt;
    }
    return Place{most - 2 * page, most};
}

MaybePlace fixed_mmap_threshold(const Settings& settings)
{
    if (!glibc_thresholds_stay(settings) || !glibc_maps_blocks(settings)) {
        return std::nullopt;
    }
    const std::uint64_t threshold =
        settings.glibc("glibc.malloc.mmap_threshold", "MALLOC_MMAP_THRESHOLD_").value_or(glibc_threshold);
    return Place{threshold - std::min(threshold, 3 * glibc_grain), threshold};
}

// The block and what else is free at the top of the heap, which is padded by another 128 KiB, pass it together. Below
// 64 KiB glibc does not look.
MaybePlace fixed_trim_threshold(const Settings& settings)
{
    constexpr std::uint64_t looked_at = 64 * kib;
    if (!glibc_thresholds_stay(settings)) {
        return std::nullopt;
    }
    const std::uint64_t threshold =
        settings.glibc("glibc.malloc.trim_threshold", "MALLOC_TRIM_THRESHOLD_").value_or(glibc_threshold);
    const std::uint64_t beside =
        settings.glibc("glibc.malloc.top_pad", "MALLOC_TOP_PAD_").value_or(128 * kib) + 128 * kib;
    const std::uint64_t lowest = std::max(threshold - std::min(threshold, beside), looked_at - 2 * glibc_grain);
    return lowest <= threshold ? MaybePlace{Place{lowest, threshold}} : std::nullopt;
}

// jemalloc

// Size classes: multiples of 16 up to 128, then four for each doubling.
std::uint64_t class_of(std::uint64_t bytes)
{
    std::uint64_t step = 16;
    for (std::uint64_t top = 128; top < bytes && top <= std::numeric_limits<std::uint64_t>::max() / 2; top *= 2) {
        step = top / 4;
    }
    return (bytes + step - 1) / step * step;
}

std::uint64_t class_below(std::uint64_t of_class)
{
    std::uint64_t step = 16;
    for (std::uint64_t top = 128; top < of_class; top *= 2) {
        step = top / 4;
    }
    return of_class - step;
}

// The largest size that a thread keeps; 0: it keeps none.
std::uint64_t jemalloc_thread_cache(const Settings& settings)
{
    if (settings.jemalloc("tcache") == "false") {
        return 0;
    }
    const auto logarithm = base::parse_number(settings.jemalloc("lg_tcache_max"));
    const std::uint64_t by_logarithm = logarithm && *logarithm < 48 ? std::uint64_t{1} << *logarithm : 32 * kib;
    const bool names_bytes = settings.is_from({5, 3});
    const auto bytes = base::parse_number(settings.jemalloc("tcache_max"));
    return class_of(std::min(names_bytes && bytes ? *bytes : by_logarithm, 8 * mib));
}

MaybePlace end_of_jemalloc_thread_cache(const Settings& settings)
{
    const std::uint64_t end = jemalloc_thread_cache(settings);
    return end == 0 ? std::nullopt : MaybePlace{Place{end, end}};
}

MaybePlace end_of_jemalloc_small_classes(const Settings& settings)
{
    constexpr std::uint64_t largest_small = 14 * kib;
    if (jemalloc_thread_cache(settings) >= largest_small) {
        return std::nullopt;  // the thread keeps both
    }
    return Place{largest_small, largest_small};
}

MaybePlace jemalloc_oversize(const Settings& settings)
{
    const std::uint64_t threshold = base::parse_number(settings.jemalloc("oversize_threshold")).value_or(8 * mib);
    if (threshold == 0 || !settings.is_from({5, 2}) || settings.jemalloc("dirty_decay_ms").starts_with('-')) {
        return std::nullopt;
    }
    const std::uint64_t last = class_below(class_of(threshold));
    return Place{last, last};
}

// mimalloc, of which versions before 2 have segments of 4 MiB, later ones of 32; those of version 3 are not described.

bool is_described(const Settings& settings)
{
    return !settings.is_from({3, 0});
}

MaybePlace end_of_mimalloc_small(const Settings& settings)
{
    return is_described(settings) ? MaybePlace{Place{1 * kib, 1 * kib}} : std::nullopt;
}

MaybePlace end_of_mimalloc_medium(const Settings& settings)
{
    return is_described(settings) ? MaybePlace{Place{128 * kib, 128 * kib}} : std::nullopt;
}

MaybePlace end_of_mimalloc_large(const Settings& settings)
{
    const std::uint64_t end = settings.is_from({2, 0}) ? 16 * mib : 2 * mib;
    return is_described(settings) ? MaybePlace{Place{end - 64 * kib, end}} : std::nullopt;
}

// gperftools

MaybePlace end_of_tcmalloc_classes(const Settings& /*settings*/)
{
    return Place{256 * kib, 256 * kib};
}

// No size decides alone: the more is freed, the more goes back.
MaybePlace tcmalloc_release(const Settings& settings)
{
    const std::string_view rate = settings.variable("TCMALLOC_RELEASE_RATE");
    return rate == "0" ? std::nullopt : MaybePlace{Place{256 * kib + 1, std::numeric_limits<std::uint64_t>::max()}};
}

std::uint64_t number(std::uint64_t value)
{
    return value;
}

const std::array glibc_smaller_tcache{CliffSetting{{"tcache_max", number(512)}}};
const std::array glibc_larger_tcache{CliffSetting{{"tcache_max", 64 * kib}}};
const std::array glibc_mxfast{CliffSetting{{"mxfast", number(80)}}};
const std::array glibc_mmap{CliffSetting{{"mmap_threshold", 1024 * mib}, {"trim_threshold", 2048 * mib}}};
const std::array jemalloc_tcache{CliffSetting{{"tcache_max", 64 * kib}}};
const std::array jemalloc_old_tcache{CliffSetting{{"lg_tcache_max", number(16)}}};
const std::array jemalloc_small{CliffSetting{{"tcache", true}, {"lg_tcache_max", number(15)}}};
const std::array jemalloc_oversized{CliffSetting{{"oversize_threshold", 4 * mib}},
                                    CliffSetting{{"dirty_decay", model::Never{}}}};
const std::array mimalloc_huge{CliffSetting{{"reserve_os_memory", 512 * mib}}};
const std::array mimalloc_large{CliffSetting{{"allow_decommit", false}}};
const std::array tcmalloc_rate{CliffSetting{{"release_rate", number(0)}}};

struct KnownCliff {
    std::string_view allocator;
    CliffKind kind{};
    MaybePlace (*place)(const Settings& settings){};
    CliffCause cause;
    Version from{};  // versions that the row is about, those from `before` on not
    Version before{std::numeric_limits<std::uint64_t>::max(), 0};
};

const std::array<KnownCliff, 15>& known_cliffs()
{
    static const std::array<KnownCliff, 15> table{{
        {"glibc",
         CliffKind::time,
         end_of_glibc_thread_cache,
         {CliffLimit::glibc_thread_cache, glibc_smaller_tcache, LimitMoves::lowered_only},
         {},
         {2, 42}},
        {"glibc",
         CliffKind::time,
         end_of_glibc_thread_cache,
         {CliffLimit::glibc_thread_cache, glibc_larger_tcache, LimitMoves::lifted},
         {2, 42}},
        {"glibc",
         CliffKind::time,
         end_of_glibc_fast_bins,
         {CliffLimit::glibc_fast_bins, glibc_mxfast, LimitMoves::lifted}},
        {"glibc",
         CliffKind::faults,
         highest_mmap_threshold,
         {CliffLimit::glibc_growing_mmap_threshold, glibc_mmap, LimitMoves::lifted}},
        {"glibc",
         CliffKind::faults,
         fixed_mmap_threshold,
         {CliffLimit::glibc_set_mmap_threshold, glibc_mmap, LimitMoves::lifted}},
        {"glibc",
         CliffKind::faults,
         fixed_trim_threshold,
         {CliffLimit::glibc_set_trim_threshold, glibc_mmap, LimitMoves::lifted}},
        {"jemalloc",
         CliffKind::time,
         end_of_jemalloc_thread_cache,
         {CliffLimit::jemalloc_thread_cache, jemalloc_tcache, LimitMoves::lifted},
         {5, 3}},
        {"jemalloc",
         CliffKind::time,
         end_of_jemalloc_thread_cache,
         {CliffLimit::jemalloc_old_thread_cache, jemalloc_old_tcache, LimitMoves::lifted},
         {},
         {5, 3}},
        {"jemalloc",
         CliffKind::time,
         end_of_jemalloc_small_classes,
         {CliffLimit::jemalloc_small_classes, jemalloc_small, LimitMoves::lifted}},
        {"jemalloc",
         CliffKind::faults,
         jemalloc_oversize,
         {CliffLimit::jemalloc_oversize_threshold, jemalloc_oversized, LimitMoves::lifted}},
        {"mimalloc",
         CliffKind::time,
         end_of_mimalloc_small,
         {CliffLimit::mimalloc_small_sizes, {}, LimitMoves::compiled_in}},
        {"mimalloc",
         CliffKind::time,
         end_of_mimalloc_medium,
         {CliffLimit::mimalloc_segment_pages, mimalloc_large, LimitMoves::compiled_in_cost_set}},
        {"mimalloc",
         CliffKind::faults,
         end_of_mimalloc_large,
         {CliffLimit::mimalloc_half_segment, mimalloc_huge, LimitMoves::lifted}},
        {"tcmalloc",
         CliffKind::time,
         end_of_tcmalloc_classes,
         {CliffLimit::tcmalloc_classes, {}, LimitMoves::compiled_in}},
        {"tcmalloc",
         CliffKind::faults,
         tcmalloc_release,
         {CliffLimit::tcmalloc_release, tcmalloc_rate, LimitMoves::lifted}},
    }};
    return table;
}

}  // namespace

std::optional<CliffCause> find_cause(const AllocatorFacts& allocator, const Cliff& cliff)
{
    const Settings settings{allocator};
    for (const KnownCliff& known : known_cliffs()) {
        const bool is_about = known.allocator == allocator.name && known.kind == cliff.kind &&
                              settings.is_from(known.from) && !settings.is_from(known.before);
        if (!is_about) {
            continue;
        }
        const MaybePlace place = known.place(settings);
        if (place && cliff.cheap.bytes >= place->lowest && cliff.cheap.bytes <= place->highest) {
            return known.cause;
        }
    }
    return std::nullopt;
}

}  // namespace memsweep::measure
