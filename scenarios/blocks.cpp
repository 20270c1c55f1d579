// The memory and safety blocks of one case.
#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/model/driver_memory.hpp"
#include "scenarios/case_reader.hpp"
#include "scenarios/pool_presets.hpp"
#include "scenarios/settings.hpp"

namespace memsweep::scenarios {
namespace {

model::TrimPolicy read_trim(const Node& node, const Reading& reading)
{
    Fields fields{node, "\"trim\"", reading};
    fields.check(memory_trim_options());
    model::TrimPolicy trim;
    fields.read("above", trim.above_bytes);
    fields.read_choice("how", trim.how);
    return trim;
}

void expect_power_of_two(const Fields& fields, std::string_view key, std::uint64_t value)
{
    if (!std::has_single_bit(value)) {
        fields.complain(fields.place(key), fmt::format("\"{}\" must be a power of two, not {}", key, value));
    }
}

model::NumaSpec read_numa(const Node& node, const Reading& reading)
{
    Fields fields{node, "\"numa\"", reading};
    fields.check(numa_options());
    model::NumaSpec numa;
    fields.read_choice("policy", numa.policy);
    std::vector<std::uint64_t> nodes;
    fields.read("nodes", nodes);
    if (!nodes.empty()) {
        numa.nodes = 0;
        for (const std::uint64_t number : nodes) {
            numa.nodes |= std::uint64_t{1} << (number % 64);
        }
    }
    return numa;
}

void read_retention(const Fields& fields, model::PoolSpec& pool)
{
    fields.read("trim_interval", pool.trim_interval_ns);
    fields.read("trim_to", pool.trim_to);
    fields.read("lifetime", pool.lifetime_ns);
    fields.read("decay", pool.decay_ns);
    fields.read("pressure", pool.pressure);
    fields.read("cgroup_share", pool.cgroup_share);
    const bool rules =
        pool.trim_to < 1 || pool.lifetime_ns != 0 || pool.decay_ns != 0 || pool.pressure > 0 || pool.cgroup_share > 0;
    if (rules && pool.trim_interval_ns == 0) {
        fields.complain(fields.place("trim_interval"),
                        "\"trim_to\", \"lifetime\", \"decay\", \"pressure\" and \"cgroup_share\" need a "
                        "\"trim_interval\": they are what a maintenance pass goes by");
    }
}

model::PoolSpec read_pool(const Node& node, const Reading& reading)
{
    Fields fields{node, "\"pool\"", reading};
    fields.check(pool_options());
    model::PoolSpec pool;
    fields.read_choice("kind", pool.kind);
    std::string preset;
    if (fields.read_choice("preset", preset)) {
        apply_preset(preset, pool);
    }
    fields.read_choice("classes", pool.classes);
    fields.read("factor", pool.factor);
    fields.read("smallest", pool.smallest);
    fields.read("largest", pool.largest);
    fields.read("alignment", pool.alignment);
    fields.read_choice("topology", pool.topology);
    fields.read("thread_blocks", pool.thread_blocks);
    fields.read("thread_bytes", pool.thread_bytes);
    fields.read("depot_blocks", pool.depot_blocks);
    fields.read("depot_bytes", pool.depot_bytes);
    fields.read("stripes", pool.stripes);
    fields.read("per_class", pool.per_class);
    fields.read("class_bytes", pool.class_bytes);
    fields.read("limit", pool.limit_bytes);
    fields.read_choice("on_full", pool.on_full);
    fields.read_choice("zeros", pool.zeros);
    fields.read("per_node", pool.per_node);
    fields.read("chunk", pool.chunk_bytes);
    read_retention(fields, pool);
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

model::MemorySpec read_memory(const Node& node, const Reading& reading)
{
    Fields fields{node, "\"memory\"", reading};
    fields.check(memory_options());
    model::MemorySpec memory;
    fields.read_choice("resource", memory.resource);
    fields.read_choice("pages", memory.pages);
    fields.read("huge_pages_from", memory.huge_pages_from_bytes);
    fields.read("alignment", memory.alignment);
    expect_power_of_two(fields, "alignment", memory.alignment);
    read_path(fields, memory);
    if (const auto number = read_device(fields, "device"); number && model::is_from_driver(memory.resource)) {
        memory.device = *number;
    }
    fields.read("populated", memory.populated);
    fields.read("locked", memory.locked);
    if (const Node* numa = fields.raw("numa")) {
        memory.numa = read_numa(*numa, reading);
    }
    if (const Node* pool = fields.raw("pool")) {
        memory.pool = read_pool(*pool, reading);
    }
    fields.read("limit", memory.limit_bytes);
    fields.read("fail_every", memory.fail_every);
    check_memory(fields, memory);
    if (const Node* trim = fields.raw("trim")) {
        memory.trim = read_trim(*trim, reading);
    }
    if (memory.huge_pages_from_bytes != 0 && memory.resource != model::ResourceKind::malloc) {
        fields.complain(fields.place("huge_pages_from"),
                        fmt::format("\"huge_pages_from\" is for resource \"malloc\", not for \"{}\"{}",
                                    model::name_of(memory.resource),
                                    memory.resource == model::ResourceKind::pages ? ": that has \"pages\"" : ""));
    }
    return memory;
}

model::SafetySpec read_safety(const Node& node, const Reading& reading)
{
    Fields fields{node, "\"safety\"", reading};
    fields.check(safety_options());
    model::SafetySpec safety;
    fields.read_choice("detect", safety.detect);
    fields.read("quarantine", safety.quarantine_bytes);
    fields.read("guard_pages", safety.guard_pages);
    fields.read("ignore_manual_free", safety.ignore_manual_free);
    return safety;
}

}  // namespace memsweep::scenarios
