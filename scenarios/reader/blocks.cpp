// The memory and safety blocks of one case.
#include <algorithm>
#include <bit>
#include <string>

#include <fmt/format.h>

#include "scenarios/reader/case_reader.hpp"
#include "scenarios/reader/option_tables.hpp"

namespace memsweep::scenarios {
namespace {

void expect_power_of_two(const Fields& fields, std::string_view key, std::uint64_t value)
{
    if (!std::has_single_bit(value)) {
        fields.complain(fields.place(key), fmt::format("\"{}\" must be a power of two, not {}", key, value));
    }
}

// Reads the object of `key`, where there is one.
template <typename Object>
void read_object(const Fields& fields, std::string_view key, const OptionTable<Object>& table, const Reading& reading,
                 Object& into)
{
    if (const Node* node = fields.raw(key)) {
        Fields object{*node, fmt::format("\"{}\"", key), reading};
        object.check(table.options());
        object.read(table, into);
    }
}

model::PoolSpec read_pool(const Node& node, const Reading& reading)
{
    Fields fields{node, "\"pool\"", reading};
    fields.check(pool_table().options());
    model::PoolSpec pool;
    fields.read(pool_table(), pool);
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

model::MemorySpec read_memory(const Node& node, const Reading& reading)
{
    Fields fields{node, "\"memory\"", reading};
    fields.check(memory_table().options());
    model::MemorySpec memory;
    fields.read(memory_table(), memory);
    expect_power_of_two(fields, "alignment", memory.alignment);
    read_path(fields, memory);
    read_object(fields, "numa", numa_table(), reading, memory.numa);
    if (const Node* pool = fields.raw("pool")) {
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

model::SafetySpec read_safety(const Node& node, const Reading& reading)
{
    Fields fields{node, "\"safety\"", reading};
    fields.check(safety_table().options());
    model::SafetySpec safety;
    fields.read(safety_table(), safety);
    return safety;
}

}  // namespace memsweep::scenarios
