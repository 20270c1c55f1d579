// The memory, safety and release blocks of one case.
#include "scenarios/reader/case_reader.hpp"

#include <algorithm>
#include <bit>
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenarios/reader/foreign_text.hpp"
#include "scenarios/reader/option_tables.hpp"

namespace memsweep::scenarios {
namespace {

void expect_power_of_two(const Fields& fields, std::string_view key, std::uint64_t value)
{
    if (!std::has_single_bit(value)) {
        fields.complain(fields.place(key), fmt::format("\"{}\" must be a power of two, not {}", key, value));
    }
}

model::PoolSpec read_pool(const SourceNode& node, const Reading& reading)
{
    model::PoolSpec pool;
    const Fields fields = read_object(node, "pool", pool_table(), reading, pool);
    const bool rules =
        pool.trim_to < 1 || pool.lifetime_ns != 0 || pool.decay_ns != 0 || pool.pressure > 0 || pool.cgroup_share > 0;
    if (rules && pool.trim_interval_ns == 0) {
        fields.complain(fields.place("trim_interval"),
                        "\"trim_to\", \"lifetime\", \"decay\", \"pressure\" and \"cgroup_share\" need a "
                        "\"trim_interval\": they are what a maintenance pass goes by");
    }
    expect_power_of_two(fields, "alignment", pool.alignment);
    if (pool.factor <= 1.01) {
        fields.complain(fields.place("factor"), "\"factor\" must be above 1.01: classes would hardly grow");
    }
    if (pool.largest < pool.smallest) {
        fields.complain(fields.place("largest"), "\"largest\" must not be below \"smallest\"");
    }
    return pool;
}

void read_path(const Fields& fields, model::MemorySpec& memory)
{
    std::string path;
    fields.read("path", path);
    const bool needed = memory.resource == model::ResourceKind::file;
    if (needed && path.empty()) {
        fields.complain(fields.place("path"), "resource \"file\" needs a \"path\": the folder for its files");
    }
    if (path.size() >= memory.path.size()) {
        fields.complain(fields.place("path"),
                        fmt::format("\"path\" may have {} letters at most", memory.path.size() - 1));
        return;
    }
    if (needed) {
        std::ranges::copy(path, memory.path.begin());
    }
}

// What only some resources can do.
void check_memory(const Fields& fields, const model::MemorySpec& memory)
{
    using model::PageKind;
    using model::ResourceKind;
    const std::string_view resource = model::name_of(memory.resource);
    const bool maps = memory.resource == ResourceKind::pages || memory.resource == ResourceKind::memfd;
    if (memory.pages != PageKind::system && !maps) {
        fields.complain(
            fields.place("pages"),
            fmt::format("\"pages\" can be chosen with resources \"pages\" and \"memfd\" only, not with \"{}\"",
                        resource));
    }
    const bool reserved = memory.pages == PageKind::huge_2m || memory.pages == PageKind::huge_1g;
    if (reserved && memory.resource == ResourceKind::memfd) {
        fields.complain(fields.place("pages"), "reserved huge pages can be chosen with resource \"pages\" only");
    }
    const bool placed = memory.populated || memory.locked || memory.numa.policy != model::NumaPolicy::none;
    if (placed && !model::maps_pages(memory.resource)) {
        const std::string_view key = memory.populated ? "populated" : memory.locked ? "locked" : "numa";
        fields.complain(fields.place(key),
                        fmt::format("\"{}\" needs a resource that maps pages, which \"{}\" does not", key, resource));
    }
    if (memory.pool.per_node &&
        (!model::maps_pages(memory.resource) || placed || memory.pool.kind != model::PoolKind::classes ||
         memory.pages == PageKind::huge_2m || memory.pages == PageKind::huge_1g)) {
        fields.complain(fields.place("pool"),
                        "\"per_node\" is for pools of kind \"classes\" over a resource that maps base pages, without "
                        "\"numa\", \"populated\" and \"locked\": it places them itself");
    }
    if (memory.pool.kind != model::PoolKind::none && memory.resource == ResourceKind::null) {
        fields.complain(fields.place("pool"), "resource \"null\" has no memory that a pool could keep");
    }
}

}  // namespace

model::MemorySpec read_memory(const SourceNode& node, const Reading& reading)
{
    model::MemorySpec memory;
    const Fields fields = read_object(node, "memory", memory_table(), reading, memory);
    expect_power_of_two(fields, "alignment", memory.alignment);
    read_path(fields, memory);
    read_object(fields, "numa", numa_table(), reading, memory.numa);
    if (const SourceNode* pool = fields.raw("pool")) {
        memory.pool = read_pool(*pool, reading);
    }
    check_memory(fields, memory);
    read_object(fields, "trim", memory_trim_table(), reading, memory.trim);
    if (memory.huge_pages_from_bytes != 0 && memory.resource != model::ResourceKind::malloc) {
        fields.complain(fields.place("huge_pages_from"),
                        fmt::format("\"huge_pages_from\" is for resource \"malloc\", not for \"{}\"{}",
                                    model::name_of(memory.resource),
                                    memory.resource == model::ResourceKind::pages ? ": that has \"pages\"" : ""));
    }
    return memory;
}

namespace {

namespace fs = std::filesystem;

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

void ReleaseReader::read(const SourceNode& node, const Reading& reading, model::Case& plan_case)
{
    Fields fields{node, "\"release\"", reading};
    fields.check(release_table().options());
    if (std::string profile; fields.read("profile", profile)) {
        read_profile(profile, fields.place("profile"), reading, plan_case);
    }
    // Keys of a mode that is not selected are read and checked all the same: an axis over modes shares one block.
    fields.read(release_table(), plan_case.release);
}

void ReleaseReader::read_profile(const std::string& name, const Place& place, const Reading& reading,
                                 model::Case& plan_case)
{
    plan_case.profile = name;
    plan_case.release.modelled = true;
    apply_profile(name, place, reading, plan_case);
}

void ReleaseReader::apply_profile(const std::string& name, const Place& place, const Reading& reading,
                                  model::Case& plan_case)
{
    const SourceNode* root = open(name, place, reading);
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
    profile.check(profile_table().options());
    Profile head;
    profile.read(profile_table(), head);
    std::string inherited;
    if (profile.read("inherits", inherited)) {
        chain_.push_back(name);
        apply_profile(inherited, profile.place("inherits"), own, plan_case);
        chain_.pop_back();
    }
    plan_case.release.unverified = !head.verified;
    if (const SourceNode* keys = profile.raw("release")) {
        Fields fields{*keys, "a profile's \"release\"", own};
        fields.check(release_table().options());
        if (const SourceNode* nested = fields.raw("profile")) {
            reading.diagnostics.add(nested->place, "a profile names another by \"inherits\"");
        }
        fields.read(release_table(), plan_case.release);
    }
}

const SourceNode* ReleaseReader::open(const std::string& name, const Place& place, const Reading& reading)
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
    const SourceNode* root = text ? sources_.add(path, *text) : nullptr;
    opened_[path] = root;
    return root;
}

std::string ReleaseReader::path_of(const std::string& name, const Place& place, const Reading& reading)
{
    if (is_path(name)) {
        return beside(place, name);
    }
    return (fs::path{reading.scope.surroundings.profile_folder} / (name + ".json")).string();
}

}  // namespace memsweep::scenarios
