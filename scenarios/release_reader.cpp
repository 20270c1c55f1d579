#include "scenarios/release_reader.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenarios/quote.hpp"
#include "scenarios/text_check.hpp"

namespace memsweep::scenarios {
namespace {

namespace fs = std::filesystem;

void read_triggers(const Fields& fields, model::ReleaseSpec& release)
{
    fields.read("collect_every", release.collect_every);
    fields.read("gated", release.gated);
    fields.read("gc_pause", release.gc_pause_ns);
    fields.read("gc_duration", release.gc_duration_ns);
    fields.read("managed_bytes", release.managed.bytes_per_array);
    fields.read("garbage", release.managed.garbage);
    fields.read("garbage_header", release.managed.header);
    fields.read("nursery", release.managed.steady);
    fields.read("nursery_first", release.managed.first);
    fields.read("nursery_second", release.managed.second);
    fields.read("nursery_used", release.managed.used_at_start);
    fields.read("tlab", release.managed.tlab);
    fields.read("region", release.managed.region);
    fields.read("large_from", release.managed.large_from);
    fields.read("large_budget", release.managed.large);
    fields.read("promoted", release.managed.promoted);
    fields.read_choice("pressure", release.pressure.rule);
    fields.read("min_budget", release.pressure.min_budget);
    fields.read("max_ratio", release.pressure.max_ratio);
    fields.read("managed_heap", release.pressure.managed_heap);
    fields.read("heap_share", release.pressure.heap_share);
    fields.read("duty", release.pressure.duty);
    fields.read("pressure_on_idle", release.pressure.counts_idle);
    fields.read("capacity", release.pressure.capacity);
    fields.read("threshold", release.pressure.threshold);
    fields.read("max_gc_share", release.pressure.max_gc_share);
    fields.read("cap", release.cap.bytes);
    fields.read("explicit_gc", release.cap.explicit_gc);
    fields.read("sleeps", release.cap.sleeps);
    fields.read("first_sleep", release.cap.first_sleep_ns);
    fields.read("initial_target", release.target.initial);
    fields.read("min_growth", release.target.min_growth);
    fields.read("min_bytes", release.target.min_bytes);
    fields.read("tuning", release.target.tuning);
    fields.read("smooth_alloc", release.target.smooth_alloc);
    fields.read("smooth_gc", release.target.smooth_gc);
    fields.read("max_heap", release.target.max_heap);
    fields.read("counts_from", release.target.counts_from);
    fields.read("threshold0", release.cycle.generation0);
    fields.read("threshold1", release.cycle.generation1);
    fields.read("threshold2", release.cycle.generation2);
    fields.read("containers", release.cycle.containers_per_array);
    fields.read("temporary_containers", release.cycle.temporary_containers);
    fields.read("containers_at_start", release.cycle.containers_at_start);
    fields.read("cyclic_fraction", release.cycle.cyclic_fraction);
}

// Keys of a mode that is not selected are read and checked all the same: an axis over modes shares one block.
void read_keys(const Fields& fields, model::ReleaseSpec& release)
{
    fields.read_choice("mode", release.mode);
    fields.read_choice("fallback", release.fallback);
    fields.read("atomic", release.atomic);
    read_triggers(fields, release);
    fields.read("finalizer_threads", release.finalizer_threads);
    fields.read("finalizer_objects", release.finalizer_objects);
    fields.read("finalizer_nice", release.finalizer_nice);
    fields.read("release_cost", release.release_cost_ns);
    fields.read("resurrect_every", release.resurrect_every);
    fields.read("free_fraction", release.free_fraction);
    fields.read("batch", release.batch);
    fields.read("slab", release.arena.slab_bytes);
    fields.read("bump_alignment", release.arena.alignment);
    fields.read("restore_on_throw", release.arena.restore_on_throw);
    fields.read("initial", release.arena.initial_bytes);
    fields.read("history", release.arena.history);
    fields.read("headroom", release.arena.headroom);
    fields.read("cache_per_size", release.cache.per_size);
    fields.read("cache_limit", release.cache.limit_bytes);
    fields.read("cache_from", release.cache.from_bytes);
    fields.read("cache_below", release.cache.below_bytes);
    fields.read("stack", release.cache.stack_bytes);
}

// "; there are a, b", or nothing.
std::string names_in(const std::string& folder)
{
    std::vector<std::string> names;
    std::error_code problem;
    for (auto entry = fs::directory_iterator{folder, problem}; !problem && entry != fs::directory_iterator{};
         entry.increment(problem)) {
        if (entry->path().extension() == ".json") {
            names.push_back(entry->path().stem().string());
        }
    }
    std::sort(names.begin(), names.end());
    return names.empty() ? "" : fmt::format("; there are {}", fmt::join(names, ", "));
}

bool is_path(const std::string& name)
{
    return name.find('/') != std::string::npos || name.ends_with(".json");
}

}  // namespace

void ReleaseReader::read(const Node& node, const Reading& reading, model::Case& plan_case)
{
    Fields fields{node, "\"release\"", reading};
    fields.check(release_options());
    if (fields.read("profile", plan_case.profile)) {
        plan_case.release.modelled = true;
        apply_profile(plan_case.profile, fields.place("profile"), reading, plan_case);
    }
    read_keys(fields, plan_case.release);
}

void ReleaseReader::apply_profile(const std::string& name, const Place& place, const Reading& reading,
                                  model::Case& plan_case)
{
    const Node* root = open(name, place, reading);
    if (root == nullptr) {
        return;
    }
    if (std::find(chain_.begin(), chain_.end(), name) != chain_.end()) {
        reading.diagnostics.add(place, fmt::format("profile {} inherits from itself", in_quotes(name)));
        return;
    }
    // A profile's values are its own: no variable or axis of the scenario reaches into it.
    const Scope bare{reading.scope.surroundings};
    const Reading own{bare, reading.diagnostics};
    Fields profile{*root, "a profile", own};
    profile.check(profile_options());
    std::string inherited;
    if (profile.read("inherits", inherited)) {
        chain_.push_back(name);
        apply_profile(inherited, profile.place("inherits"), own, plan_case);
        chain_.pop_back();
    }
    bool verified = false;
    profile.read("verified", verified);
    plan_case.release.unverified = !verified;
    if (const Node* keys = profile.raw("release")) {
        Fields fields{*keys, "a profile's \"release\"", own};
        fields.check(release_options());
        if (const Node* nested = fields.raw("profile")) {
            reading.diagnostics.add(nested->place, "a profile names another by \"inherits\"");
        }
        read_keys(fields, plan_case.release);
    }
}

const Node* ReleaseReader::open(const std::string& name, const Place& place, const Reading& reading)
{
    if (name.empty() || name.size() > 4096 || find_bad_byte(name)) {
        reading.diagnostics.add(place, "\"profile\" must be the name of a profile or a path");
        return nullptr;
    }
    const std::string path = path_of(name, place, reading);
    const auto known = opened_.find(path);
    if (known != opened_.end()) {
        return known->second;
    }
    const auto text = reading.scope.surroundings.read_file(path);
    if (!text) {
        const std::string hint = is_path(name) ? "" : names_in(reading.scope.surroundings.profile_folder);
        reading.diagnostics.add(place, fmt::format("no profile {}: cannot read {}: {}{}", in_quotes(name),
                                                   in_quotes(path), text.error().message, hint));
    }
    const Node* root = text ? sources_.add(path, *text) : nullptr;
    opened_[path] = root;
    return root;
}

std::string ReleaseReader::path_of(const std::string& name, const Place& place, const Reading& reading)
{
    if (is_path(name)) {
        const fs::path wanted{name};
        const fs::path beside = fs::path{place.name}.parent_path() / wanted;
        return wanted.is_absolute() ? name : beside.lexically_normal().string();
    }
    return (fs::path{reading.scope.surroundings.profile_folder} / (name + ".json")).string();
}

}  // namespace memsweep::scenarios
