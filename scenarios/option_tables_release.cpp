// The table of "release": who frees, and when; the parameters of every discipline and of every trigger.
#include <array>
#include <limits>

#include "core/model/specs.hpp"
#include "scenarios/options.hpp"

namespace memsweep::scenarios {
namespace {

using enum OptionKind;

constexpr std::uint64_t thousand_million = 1'000'000'000;
constexpr std::uint64_t ms = 1'000'000;
constexpr std::uint64_t any_size = std::numeric_limits<std::int64_t>::max();

constexpr OptionInfo count_of(std::string_view key, std::string_view default_text, std::uint64_t min, std::uint64_t max,
                              std::string_view help)
{
    return {key, integer, false, default_text, min, max, nullptr, help};
}

constexpr OptionInfo bytes_of(std::string_view key, std::string_view default_text, std::string_view help)
{
    return {key, size, false, default_text, 0, any_size, nullptr, help};
}

constexpr OptionInfo ratio_of(std::string_view key, std::string_view default_text, std::uint64_t max,
                              std::string_view help)
{
    return {key, number, false, default_text, 0, max, nullptr, help};
}

constexpr OptionInfo time_of(std::string_view key, std::string_view default_text, std::string_view help)
{
    return {key, duration, false, default_text, 0, 10'000 * ms, nullptr, help};
}

constexpr OptionInfo flag(std::string_view key, std::string_view default_text, std::string_view help)
{
    return {key, boolean, false, default_text, 0, 0, nullptr, help};
}

constexpr std::array release_table{
    OptionInfo{"mode", choice, false, "refcount", 0, 0, model::all_names<model::ReleaseMode>, "who frees, and when"},
    OptionInfo{"profile", text, false, "", 0, 0, nullptr,
               "a runtime profile: a name in configs/runtimes, or a path; keys given here win"},
    OptionInfo{"fallback", choice, false, "none", 0, 0, model::all_names<model::Fallback>,
               "manual modes: who frees what the program did not"},
    flag("atomic", "true", "handles may be shared between threads: their count takes locked instructions"),

    count_of("collect_every", "0", 0, thousand_million,
             "collect before an allocation when this many were made since the last; 0: only by other triggers"),
    flag("gated", "false", "finalizer: the allocation that triggers a collection waits until it is drained"),
    time_of("gc_pause", "0ns", "a collection stops the program for this long"),
    time_of("gc_duration", "0ns", "finalizer: a collection that pressure asks for runs this long beside the program"),

    bytes_of("managed_bytes", "0", "managed bytes of small objects that each array brings: wrappers, strings"),
    bytes_of("garbage", "0", "one managed object more per array, of this size"),
    bytes_of("garbage_header", "16", "of that object"),
    bytes_of("nursery", "0", "managed bytes between two collections; 0: they trigger none"),
    bytes_of("nursery_first", "0", "before the first collection, where it differs; 0: it does not"),
    bytes_of("nursery_second", "0", "before the second, where it differs; 0: it does not"),
    bytes_of("nursery_used", "0", "used before the first array is made"),
    bytes_of("tlab", "0", "an object larger than this wastes as much of the nursery; 0: none does"),
    bytes_of("region", "0", "objects do not cross regions of this size; 0: there are none"),
    bytes_of("large_from", "0", "objects from this size on are counted apart; 0: none are"),
    bytes_of("large_budget", "0", "of these: a collection once it is passed; 0: they trigger none"),
    bytes_of("promoted", "0", "survives the first collection of the nursery, and counts with the large objects"),

    OptionInfo{"pressure", choice, false, "none", 0, 0, model::all_names<model::PressureRule>,
               "what native memory triggers"},
    bytes_of("min_budget", "4MiB", "coreclr: gross additions that are always allowed"),
    ratio_of("max_ratio", "10", 1000, "coreclr: additions over removals beyond which the budget grows no more"),
    bytes_of("managed_heap", "0", "coreclr: size of the managed heap, of which a share is a budget too"),
    ratio_of("heap_share", "0.3333333333333333", 1, "coreclr: that share"),
    ratio_of("duty", "5", 1000, "coreclr: collections lie this many times their duration apart"),
    flag("pressure_on_idle", "false", "pool: what is returned is registered again, as if it were live: a mistake"),
    bytes_of("capacity", "0", "cuda: memory of the device; 0: nothing triggers"),
    ratio_of("threshold", "0.75", 1, "cuda: live share of it from which collections come"),
    ratio_of("max_gc_share", "0.05", 1, "cuda: share of the time that they may take"),

    bytes_of("cap", "0", "cleaner: most bytes at once; an allocation above it waits; 0: no cap"),
    flag("explicit_gc", "true", "cleaner: an allocation at the cap may ask for a collection"),
    count_of("sleeps", "9", 0, 20, "cleaner: sleeps at the cap before the allocation is refused"),
    time_of("first_sleep", "1ms", "cleaner: the first of them; each is twice the one before"),

    bytes_of("initial_target", "0", "sweep: heap at which the first collection comes; 0: no such trigger"),
    ratio_of("min_growth", "0.05", 100, "sweep: the next target lies at least this share of the heap higher"),
    bytes_of("min_bytes", "5734400", "sweep: and at least so much"),
    ratio_of("tuning", "20000", thousand_million, "sweep: factor of the square-root rule"),
    ratio_of("smooth_alloc", "0.95", 1, "sweep: weight of the past in the allocation rate"),
    ratio_of("smooth_gc", "0.5", 1, "sweep: weight of the past in the collection rate"),
    bytes_of("max_heap", "0", "sweep: bound of the target; 0: none"),
    bytes_of("counts_from", "2025", "sweep: smaller arrays lie in the managed heap and are not counted"),

    count_of("threshold0", "0", 0, thousand_million,
             "cycle: containers allocated less those freed that trigger a collection; 0: no such trigger"),
    count_of("threshold1", "10", 0, thousand_million, "cycle: collections before the second generation is looked at"),
    count_of("threshold2", "10", 0, thousand_million, "cycle: and before the oldest is"),
    count_of("containers", "1", 0, thousand_million, "cycle: container objects per array"),
    count_of("temporary_containers", "0", 0, thousand_million, "cycle: more of them while an array is made"),
    count_of("containers_at_start", "0", 0, thousand_million, "cycle: counted before the first array"),
    ratio_of("cyclic_fraction", "1", 1, "cycle: share of the arrays that are caught in cycles"),

    count_of("finalizer_threads", "1", 1, 64, "finalizer, cleaner: threads that free"),
    count_of("finalizer_objects", "1", 1, 16, "finalizable objects per array"),
    count_of("finalizer_nice", "0", 0, 19, "niceness of these threads"),
    time_of("release_cost", "0ns", "busy time added to each release, for finalizers that do more than free"),
    count_of("resurrect_every", "0", 0, thousand_million,
             "finalizer: every Nth array found is kept alive for one more collection; 0: none"),

    ratio_of("free_fraction", "1", 1, "manual modes: share of the manual frees that are carried out"),
    count_of("batch", "16", 1, thousand_million, "deferred_batch: free when this many drops wait"),

    OptionInfo{"slab", size, false, "1MiB", 4096, any_size, nullptr, "arena: size of a slab"},
    OptionInfo{"bump_alignment", size, false, "8", 1, 4096, nullptr, "arena: largest alignment that is kept"},
    flag("restore_on_throw", "false", "arena: an exception that leaves a scope restores it too"),
    OptionInfo{"initial", size, false, "128MiB", 4096, any_size, nullptr, "arena_autoscale: the main buffer"},
    count_of("history", "5", 1, 1000, "arena_autoscale: scopes that its size follows"),
    ratio_of("headroom", "1.1", 100, "arena_autoscale: how much more than they used"),

    count_of("cache_per_size", "8", 0, thousand_million, "pool, tls_cache: arrays kept of one size"),
    bytes_of("cache_limit", "1GiB", "pool, tls_cache: bytes kept in all"),
    OptionInfo{"cache_from", size, false, "1", 0, any_size, nullptr, "pool: smaller arrays bypass it"},
    bytes_of("cache_below", "0", "pool: and so do arrays of this size and more; 0: none do"),
    OptionInfo{"stack", size, false, "4MiB", 4096, any_size, nullptr, "stack: the region"},
};

}  // namespace

std::span<const OptionInfo> release_options()
{
    return release_table;
}

}  // namespace memsweep::scenarios
