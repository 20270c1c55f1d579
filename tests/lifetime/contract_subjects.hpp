// Every way of releasing memory that the contract suite runs over, and the little that it needs to know of each.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "core/model/specs.hpp"

namespace memsweep::tests {

// Where a buffer's memory stays, at the longest, once its last handle is gone.
enum class Fate {
    freed,    // nowhere: freed at the drop
    found,    // afloat, until a collection has found it
    scoped,   // in its arena, until the scope ends
    kept,     // idle, for the next buffer
    stacked,  // on the stack, until nothing lies above it
    lost,     // where it is, for ever
};

struct Subject {
    std::string name;
    model::ReleaseSpec spec;
    Fate fate{Fate::freed};
    std::uint64_t collections{1};  // until one has freed what is unreachable

    [[nodiscard]] bool one_thread() const { return !spec.atomic || spec.mode == model::ReleaseMode::immediate; }
    [[nodiscard]] std::size_t threads(std::size_t wanted) const { return one_thread() ? 1 : wanted; }
    [[nodiscard]] bool manual() const { return model::frees_manually(spec); }
    // Two handles dropped at once free nothing by hand; without a fallback nobody else does.
    [[nodiscard]] bool may_lose() const { return fate == Fate::lost || (manual() && !model::is_collected(spec)); }
    // Each buffer is an allocation of its own.
    [[nodiscard]] bool one_each() const { return fate != Fate::scoped && fate != Fate::stacked; }
    [[nodiscard]] std::uint64_t granted(std::uint64_t bytes) const
    {
        return spec.mode == model::ReleaseMode::pool ? std::bit_ceil(bytes) : bytes;
    }
};

inline void add_counted_modes(std::vector<Subject>& subjects)
{
    using enum model::ReleaseMode;
    using enum Fate;
    subjects.push_back({"immediate", {.mode = immediate}, freed});
    subjects.push_back({"refcount", {}, freed});
    subjects.push_back({"refcount of one thread", {.atomic = false}, freed});
    subjects.push_back({"cycle", {.mode = cycle}, found});
    subjects.push_back({"cycle of one thread", {.mode = cycle, .atomic = false, .collect_every = 7}, found});
    subjects.push_back({"cycle by counts", {.mode = cycle, .cycle = {.generation0 = 7, .generation1 = 2}}, found});
    subjects.push_back({"every other one in a cycle", {.mode = cycle, .cycle = {.cyclic_fraction = 0.5}}, found});
}

inline void add_finalizers(std::vector<Subject>& subjects)
{
    using enum model::ReleaseMode;
    using enum Fate;
    subjects.push_back({"finalizer", {.mode = finalizer}, found});
    subjects.push_back({"three finalizers", {.mode = finalizer, .finalizer_threads = 3}, found});
    subjects.push_back({"collecting finalizer", {.mode = finalizer, .collect_every = 10}, found});
    subjects.push_back({"gated finalizer", {.mode = finalizer, .gated = true, .collect_every = 10}, found});
    subjects.push_back({"two gated finalizers",
                        {.mode = finalizer, .finalizer_threads = 2, .gated = true, .collect_every = 3},
                        found});
    subjects.push_back({"slow finalizer", {.mode = finalizer, .release_cost_ns = 20'000, .collect_every = 25}, found});
    subjects.push_back({"resurrecting finalizer", {.mode = finalizer, .resurrect_every = 3}, found, 2});
    subjects.push_back({"all are resurrected, by two finalizers",
                        {.mode = finalizer, .finalizer_threads = 2, .resurrect_every = 1, .collect_every = 9},
                        found,
                        2});
    subjects.push_back({"finalizer, collected beside the program",
                        {.mode = finalizer,
                         .gc_duration_ns = 100'000,
                         .pressure = {.rule = model::PressureRule::coreclr, .min_budget = 2000, .duty = 0}},
                        found});
    subjects.push_back({"finalizer, gated by collections beside the program",
                        {.mode = finalizer,
                         .gated = true,
                         .gc_duration_ns = 100'000,
                         .pressure = {.rule = model::PressureRule::coreclr, .min_budget = 20'000, .duty = 0}},
                        found});
    subjects.push_back({"cleaner", {.mode = cleaner}, found});
    subjects.push_back(
        {"cleaner under a cap", {.mode = cleaner, .cap = {.bytes = 200'000, .first_sleep_ns = 100'000}}, found});
}

inline void add_sweeps(std::vector<Subject>& subjects)
{
    using enum model::ReleaseMode;
    using enum Fate;
    subjects.push_back({"sweep", {.mode = sweep}, found});
    subjects.push_back({"pausing sweep", {.mode = sweep, .collect_every = 20, .gc_pause_ns = 1000}, found});
    subjects.push_back({"sweep at a heap target",
                        {.mode = sweep, .target = {.initial = 20'000, .min_bytes = 5000, .counts_from = 50}},
                        found});
    subjects.push_back(
        {"sweep of a managed budget", {.mode = sweep, .managed = {.bytes_per_array = 100, .steady = 3000}}, found});
    subjects.push_back(
        {"sweep under a device's pressure",
         {.mode = sweep, .pressure = {.rule = model::PressureRule::cuda, .capacity = 20'000, .max_gc_share = 1}},
         found});
}

inline void add_manual_modes(std::vector<Subject>& subjects)
{
    using enum model::ReleaseMode;
    using enum Fate;
    using model::Fallback;
    subjects.push_back({"explicit", {.mode = explicit_free}, freed});
    subjects.push_back({"explicit of one thread", {.mode = explicit_free, .atomic = false}, freed});
    subjects.push_back(
        {"explicit, frees disregarded", {.mode = explicit_free, .safety = {.ignore_manual_free = true}}, found});
    subjects.push_back({"must_free", {.mode = must_free}, freed});
    subjects.push_back({"unsafe_free", {.mode = unsafe_free}, freed});
    subjects.push_back({"half freed early, a finalizer for the rest",
                        {.mode = unsafe_free, .fallback = Fallback::finalizer, .free_fraction = 0.5},
                        found});
    subjects.push_back({"half freed early, a sweep for the rest",
                        {.mode = unsafe_free, .fallback = Fallback::sweep, .collect_every = 10, .free_fraction = 0.5},
                        found});
    subjects.push_back({"half freed early, a capped cleaner for the rest",
                        {.mode = unsafe_free,
                         .fallback = Fallback::cleaner,
                         .free_fraction = 0.5,
                         .cap = {.bytes = 200'000, .first_sleep_ns = 100'000}},
                        found});
    subjects.push_back({"finalize_now", {.mode = finalize_now, .fallback = Fallback::finalizer}, found});
    subjects.push_back({"disposed references over a finalizer",
                        {.fallback = Fallback::finalizer, .finalizer_objects = 2, .collect_every = 10},
                        found});
}

inline void add_bumped_modes(std::vector<Subject>& subjects)
{
    using enum model::ReleaseMode;
    using enum Fate;
    constexpr model::ArenaSpec slabs{.slab_bytes = 4096, .alignment = 16, .initial_bytes = 4096};
    subjects.push_back({"arena", {.mode = arena, .arena = slabs}, scoped});
    subjects.push_back(
        {"arena of odd addresses", {.mode = arena, .arena = {.slab_bytes = 4096, .alignment = 1}}, scoped});
    subjects.push_back({"autoscaling arena", {.mode = arena_autoscale, .arena = slabs}, scoped});
    subjects.push_back({"checked arena", {.mode = arena_checked, .arena = slabs}, scoped});
    subjects.push_back({"stack", {.mode = stack, .cache = {.stack_bytes = 1024}}, stacked});
}

inline void add_keeping_modes(std::vector<Subject>& subjects)
{
    using enum model::ReleaseMode;
    using enum Fate;
    subjects.push_back({"pool", {.mode = pool}, kept});
    subjects.push_back({"small pool", {.mode = pool, .cache = {.per_size = 2, .limit_bytes = 1000}}, kept});
    subjects.push_back({"pool of nothing", {.mode = pool, .cache = {.per_size = 0}}, kept});
    subjects.push_back({"preallocated", {.mode = preallocated}, kept});
    subjects.push_back({"caches of threads", {.mode = tls_cache}, kept});
    subjects.push_back(
        {"small caches of threads", {.mode = tls_cache, .cache = {.per_size = 2, .limit_bytes = 1000}}, kept});
    subjects.push_back({"forwarding slot", {.mode = forward}, kept});
}

inline std::vector<Subject> contract_subjects()
{
    using enum model::ReleaseMode;
    using enum Fate;
    std::vector<Subject> subjects;
    add_counted_modes(subjects);
    add_finalizers(subjects);
    add_sweeps(subjects);
    add_manual_modes(subjects);
    add_bumped_modes(subjects);
    add_keeping_modes(subjects);
    subjects.push_back({"batch of 1", {.mode = deferred_batch, .batch = 1}, freed});
    subjects.push_back({"batch of 16", {.mode = deferred_batch}, found});
    subjects.push_back({"huge batch", {.mode = deferred_batch, .batch = 1'000'000}, found});
    subjects.push_back({"leak", {.mode = leak}, lost});
    return subjects;
}

}  // namespace memsweep::tests
