// The keys of "release": who frees, and when; the parameters of every discipline and of every trigger.
//
// Keys of another mode than the selected one are accepted and mean nothing, so they do not count in the canonical form
// either.
#include "core/model/specs.hpp"
#include "scenarios/reader/option_table.hpp"
#include "scenarios/reader/option_tables.hpp"

namespace memsweep::scenarios {

const OptionTable<model::ReleaseSpec>& release_table()
{
    using namespace rows;
    using R = model::ReleaseSpec;
    using Managed = model::ManagedBudget;
    using Heap = model::HeapSizes;
    using model::Pressure;
    using Cap = model::ReserveCap;
    using Target = model::HeapTarget;
    using Cycle = model::CycleThresholds;
    using Arena = model::ArenaSpec;
    using Cache = model::CacheSpec;
    using Mode = model::ReleaseMode;
    using Family = model::ModeFamily;
    static constexpr auto manual = [](const R& release) { return model::frees_manually(release); };
    static constexpr auto counted = [](const R& release) { return release.mode == Mode::refcount; };
    static constexpr auto batched = [](const R& release) { return release.mode == Mode::deferred_batch; };
    static constexpr auto on_stack = [](const R& release) { return release.mode == Mode::stack; };
    static constexpr auto has_arena = [](const R& release) { return family_of(release.mode) == Family::arena; };
    static constexpr auto has_cache = [](const R& release) { return family_of(release.mode) == Family::cache; };
    static constexpr auto has_window = [](const R& release) {
        return release.mode == Mode::pool && (release.cache.from_bytes > 1 || release.cache.below_bytes != 0);
    };
    static constexpr auto triggered = [](const R& release) {
        return model::is_collected(release) || has_cache(release);
    };
    static const OptionTable<R> table{
        choice<&R::mode>("mode", "the release mode: who frees, and when").always(),
        key<R>("profile", OptionKind::text,
               "a runtime profile: a name in configs/runtimes, or a path; keys given here win"),
        choice<&R::fallback>("fallback", "manual modes: who frees the arrays that the program did not free")
            .always({}, manual),
        flag<&R::atomic>("atomic",
                         "handles may be shared between threads, so that counting them takes atomic instructions")
            .unless_default({}, counted),

        listed_below<R>("/triggers/gc", triggered),
        integer<&R::collect_every>("collect_every", 0, thousand_million,
                                   "a collection runs before an allocation once this many were made since the last; 0: "
                                   "only other triggers apply"),
        flag<&R::gated>("gated",
                        "finalizer: an allocation that triggers a collection waits until all that it found is freed"),
        duration<&R::gc_pause_ns>("gc_pause", 0, 10'000 * millisecond, "a collection stops the program for this long"),
        duration<&R::gc_duration_ns>(
            "gc_duration", 0, 10'000 * millisecond,
            "finalizer: a collection that pressure asks for runs this long beside the program"),

        listed_below<R>("/triggers/managed", triggered),
        size<&R::managed, &Managed::bytes_per_array>(
            "managed_bytes", "managed bytes of the small objects that come with each array: wrappers, strings"),
        size<&R::managed, &Managed::garbage>("garbage", "size of one more managed object per array"),
        size<&R::managed, &Managed::header>("garbage_header", "size of that object's header"),
        size<&R::managed, &Managed::steady>("nursery", "managed bytes between two collections; 0: they trigger none")
            .at(5),
        size<&R::managed, &Managed::first>("nursery_first",
                                           "nursery before the first collection, if it differs; 0: it does not")
            .at(3),
        size<&R::managed, &Managed::second>("nursery_second",
                                            "nursery before the second collection, if it differs; 0: it does not")
            .at(4),
        size<&R::managed, &Managed::used_at_start>("nursery_used",
                                                   "bytes of the nursery in use before the first array is made"),
        size<&R::managed, &Managed::tlab>(
            "tlab", "of the nursery, garbage larger than this leaves as much unused, smaller half of it"),
        size<&R::managed, &Managed::region>("region", "objects do not cross regions of this size; 0: there are none"),
        size<&R::managed, &Managed::large_from>("large_from",
                                                "objects of this size and more are counted apart; 0: none are"),
        size<&R::managed, &Managed::large>(
            "large_budget", "a collection runs once such large objects exceed this; 0: they trigger none"),
        size<&R::managed, &Managed::promoted>(
            "promoted",
            "bytes that survive the first collection of the nursery, and then count with the large objects"),
        size<&R::managed, &Managed::heap, &Heap::initial>(
            "heap_initial",
            "of a JVM: the nursery follows from it, by G1's rules with a region, else by Serial's; 0: it does not")
            .unless_default({}, triggered),
        size<&R::managed, &Managed::heap, &Heap::min>(
            "heap_min", "-Xms; 0: not given, so that G1 shrinks the heap at the first System.gc()")
            .unless_default({}, triggered),
        size<&R::managed, &Managed::heap, &Heap::max>("heap_max", "-Xmx; 0: as heap_initial")
            .unless_default({}, triggered),

        listed_below<R>("/triggers/pressure", triggered),
        choice<&R::pressure, &Pressure::rule>("pressure", "what native memory triggers"),
        size<&R::pressure, &Pressure::min_budget>("min_budget",
                                                  "coreclr: bytes that may always be added between collections"),
        number<&R::pressure, &Pressure::max_ratio>(
            "max_ratio", 0, 1000, "coreclr: the budget stops growing once additions exceed removals by this factor"),
        size<&R::pressure, &Pressure::managed_heap>(
            "managed_heap", "coreclr: size of the managed heap; a share of it (heap_share) is a budget, too"),
        number<&R::pressure, &Pressure::heap_share>("heap_share", 0, 1,
                                                    "coreclr: share of managed_heap that is a budget"),
        number<&R::pressure, &Pressure::duty>(
            "duty", 0, 1000, "coreclr: least time between two collections, as a multiple of their duration"),
        flag<&R::pressure, &Pressure::counts_idle>(
            "pressure_on_idle",
            "pool: memory returned to the pool is registered as live again, which is a mistake to study")
            .listed("/cache", has_cache)
            .at(2),
        size<&R::pressure, &Pressure::capacity>("capacity", "cuda: memory of the device; 0: nothing triggers"),
        number<&R::pressure, &Pressure::threshold>("threshold", 0, 1,
                                                   "cuda: collections start once this share of the capacity is live"),
        number<&R::pressure, &Pressure::max_gc_share>(
            "max_gc_share", 0, 1,
            "cuda: share of the time that collections may take; it doubles for each of three signs of need"),

        listed_below<R>("/triggers/cap", triggered),
        size<&R::cap, &Cap::bytes>("cap",
                                   "cleaner: most live bytes; an allocation that would exceed it waits; 0: no cap"),
        flag<&R::cap, &Cap::explicit_gc>("explicit_gc", "cleaner: an allocation at the cap may ask for a collection"),
        integer<&R::cap, &Cap::sleeps>("sleeps", 0, 20, "cleaner: sleeps at the cap before the allocation is refused"),
        duration<&R::cap, &Cap::first_sleep_ns>("first_sleep", 0, 10'000 * millisecond,
                                                "cleaner: length of the first sleep; each is twice the one before"),

        listed_below<R>("/triggers/target", triggered),
        size<&R::target, &Target::initial>("initial_target",
                                           "sweep: heap size that triggers the first collection; 0: no such trigger"),
        number<&R::target, &Target::min_growth>("min_growth", 0, 100,
                                                "sweep: each target exceeds the heap by at least this share of it"),
        size<&R::target, &Target::min_bytes>("min_bytes",
                                             "sweep: each target exceeds the heap by at least this many bytes"),
        number<&R::target, &Target::tuning>("tuning", 0, thousand_million, "sweep: factor of the square-root rule"),
        number<&R::target, &Target::smooth_alloc>("smooth_alloc", 0, 1,
                                                  "sweep: weight of the past in the allocation rate"),
        number<&R::target, &Target::smooth_gc>("smooth_gc", 0, 1, "sweep: weight of the past in the collection rate"),
        size<&R::target, &Target::max_heap>("max_heap", "sweep: upper bound of the target; 0: none"),
        size<&R::target, &Target::counts_from>("counts_from",
                                               "sweep: smaller arrays lie in the managed heap and are not counted"),

        listed_below<R>("/triggers/cycle", triggered),
        integer<&R::cycle, &Cycle::generation0>("threshold0", 0, thousand_million,
                                                "cycle: a collection runs once containers allocated minus containers "
                                                "freed exceed this; 0: no such trigger"),
        integer<&R::cycle, &Cycle::generation1>(
            "threshold1", 0, thousand_million,
            "cycle: collections of the youngest generation before the second is collected too"),
        integer<&R::cycle, &Cycle::generation2>(
            "threshold2", 0, thousand_million,
            "cycle: collections of the second generation before the oldest is collected too"),
        integer<&R::cycle, &Cycle::containers_per_array>("containers", 0, thousand_million,
                                                         "cycle: container objects per array"),
        integer<&R::cycle, &Cycle::temporary_containers>("temporary_containers", 0, thousand_million,
                                                         "cycle: temporary container objects while an array is made"),
        integer<&R::cycle, &Cycle::containers_at_start>("containers_at_start", 0, thousand_million,
                                                        "cycle: container objects counted before the first array"),
        integer<&R::cycle, &Cycle::containers_beside>(
            "containers_beside", 0, thousand_million,
            "cycle: container objects made after each array; they live until those of the next array are made")
            .unless_default({}, triggered),
        integer<&R::cycle, &Cycle::free_list>("container_free_list", 0, thousand_million,
                                              "cycle: freed containers kept for reuse; they count neither when they "
                                              "are made again nor when they are freed")
            .unless_default({}, triggered),
        integer<&R::cycle, &Cycle::long_lived>("containers_long_lived", 0, thousand_million,
                                               "cycle: containers alive before the program starts; the oldest "
                                               "generation is collected once a quarter as many have joined it")
            .unless_default({}, triggered),
        number<&R::cycle, &Cycle::cyclic_fraction>("cyclic_fraction", 0, 1,
                                                   "cycle: share of the arrays that are held in cycles"),

        listed_below<R>("/triggers/finalizer", triggered),
        integer<&R::finalizer_threads>("finalizer_threads", 1, 64, "finalizer, cleaner: threads that free"),
        integer<&R::finalizer_objects>("finalizer_objects", 1, 16, "finalizable objects per array"),
        integer<&R::finalizer_nice>("finalizer_nice", 0, 19, "niceness of the threads that free"),
        duration<&R::release_cost_ns>("release_cost", 0, 10'000 * millisecond,
                                      "busy time added to each release, for finalizers that do more than free"),
        integer<&R::resurrect_every>("resurrect_every", 0, thousand_million,
                                     "finalizer: every Nth array found is kept alive for one more collection; 0: none"),

        number<&R::free_fraction>("free_fraction", 0, 1, "manual modes: share of the manual frees that are carried out")
            .always({}, manual),
        integer<&R::batch>("batch", 1, thousand_million, "deferred_batch: free when this many drops wait")
            .always({}, batched),

        listed_below<R>("/arena", has_arena),
        size<&R::arena, &Arena::slab_bytes>("slab", 4096, any_size, "arena: size of a slab"),
        size<&R::arena, &Arena::alignment>("bump_alignment", 1, 4096, "arena: largest alignment that is honoured"),
        flag<&R::arena, &Arena::restore_on_throw>("restore_on_throw",
                                                  "arena: a scope left by an exception frees its memory, too"),
        size<&R::arena, &Arena::initial_bytes>("initial", 4096, any_size,
                                               "arena_autoscale: initial size of the main buffer"),
        integer<&R::arena, &Arena::history>("history", 1, 1000,
                                            "arena_autoscale: number of last scopes that set the buffer's size"),
        number<&R::arena, &Arena::headroom>(
            "headroom", 0, 100, "arena_autoscale: size of the buffer as a multiple of the most that those scopes used"),

        listed_below<R>("/cache", has_cache),
        integer<&R::cache, &Cache::per_size>("cache_per_size", 0, thousand_million,
                                             "pool, tls_cache: most arrays of one size that are kept")
            .at(0),
        size<&R::cache, &Cache::limit_bytes>("cache_limit", "pool, tls_cache: most bytes that are kept").at(1),

        listed_below<R>("/window", has_window),
        size<&R::cache, &Cache::from_bytes>("cache_from", 0, any_size, "pool: smaller arrays bypass the pool"),
        size<&R::cache, &Cache::below_bytes>("cache_below",
                                             "pool: arrays of this size and more bypass the pool; 0: none do"),
        size<&R::cache, &Cache::stack_bytes>("stack", 4096, any_size, "stack: size of its region")
            .always("stack_bytes", on_stack),
    };
    return table;
}

}  // namespace memsweep::scenarios
