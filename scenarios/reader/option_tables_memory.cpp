// The keys of "memory" and of what stands in it, of "safety", and of pools.
#include <algorithm>
#include <array>

#include "core/model/specs.hpp"
#include "scenarios/reader/foreign_text.hpp"
#include "scenarios/reader/option_tables.hpp"

namespace memsweep::scenarios {
namespace {

constexpr std::uint64_t day = 24 * hour;

constexpr std::uint64_t minute_ns = 60'000'000'000;

// Pools by name: values that keys of the file then change. DotCompute's object pool: its default, high-frequency and
// memory-constrained settings.
struct Preset {
    std::string_view name;
    std::uint32_t thread_blocks, depot_blocks;
    std::uint64_t lifetime_ns, trim_interval_ns;
};

constexpr std::array<Preset, 4> presets{{
    {"default", 8, 100, 0, 0},
    {"dotcompute", 8, 100, 30 * minute_ns, 5 * minute_ns},
    {"high-frequency", 16, 500, 15 * minute_ns, 2 * minute_ns},
    {"memory-constrained", 4, 25, 10 * minute_ns, minute_ns},
}};

std::vector<std::string_view> preset_names()
{
    return names_of(presets, &Preset::name);
}

void apply_preset(std::string_view name, model::PoolSpec& pool)
{
    const Preset& preset = *std::ranges::find(presets, name, &Preset::name);
    pool.thread_blocks = preset.thread_blocks;
    pool.depot_blocks = preset.depot_blocks;
    pool.lifetime_ns = preset.lifetime_ns;
    pool.trim_interval_ns = preset.trim_interval_ns;
}

Value nodes_of(const model::NumaSpec& numa)
{
    std::vector<std::uint64_t> nodes;
    for (std::uint64_t node = 0; node < 64; ++node) {
        if ((numa.nodes >> node & 1U) != 0) {
            nodes.push_back(node);
        }
    }
    return nodes;
}

void set_nodes(model::NumaSpec& numa, const Value& value)
{
    numa.nodes = 0;
    for (const std::uint64_t node : std::get<std::vector<std::uint64_t>>(value)) {
        numa.nodes |= std::uint64_t{1} << (node % 64);
    }
}

}  // namespace

const OptionTable<model::MemorySpec>& memory_table()
{
    using namespace rows;
    using M = model::MemorySpec;
    static constexpr auto aligned = [](const M& memory) { return memory.resource == model::ResourceKind::aligned; };
    static constexpr auto in_files = [](const M& memory) { return memory.resource == model::ResourceKind::file; };
    static const OptionTable<M> table{
        choice<&M::resource>("resource", "where memory comes from").always(),
        choice<&M::pages>("pages", "page size; only with resources pages and memfd, and 2MiB and 1GiB only with pages")
            .always(),
        size<&M::huge_pages_from_bytes>(
            "huge_pages_from",
            "malloc: arrays of this size and more ask for transparent huge pages, as NumPy does from 4MiB; 0: none")
            .unless_default("huge_pages_from_bytes"),
        size<&M::alignment>("alignment", 1, 1U << 21U,
                            "resource aligned: least alignment of every allocation, a power of two")
            .always({}, aligned),
        key<M>("path", OptionKind::text, "resource file: the folder of its files")
            .always({}, in_files)
            .by([](const M& memory) { return Value{std::string{memory.path.data()}}; }),
        bound<M>(
            "device", OptionKind::device,
            "the device, with resources from a device's driver: pinned, write_combined, mapped, managed, device, "
            "stream_ordered",
            [](const M& memory) { return Value{std::uint64_t{memory.device}}; },
            [](M& memory, const Value& number) {
                memory.device = model::is_from_driver(memory.resource)
                                    ? static_cast<std::uint32_t>(std::get<std::uint64_t>(number))
                                    : memory.device;
            }),
        flag<&M::populated>("populated",
                            "every page is resident before an allocation returns; only with resources that map pages"),
        flag<&M::locked>("locked", "pages stay resident (mlock); only with resources that map pages"),
        key<M>("numa", OptionKind::object, "on which NUMA nodes memory lies; only with resources that map pages"),
        key<M>("pool", OptionKind::object, "a pool that keeps freed memory between the arrays and their resource"),
        size<&M::limit_bytes>("limit", "most live bytes: an allocation that would exceed this is refused; 0: no limit")
            .always("limit_bytes"),
        integer<&M::fail_every>("fail_every", 0, thousand_million, "refuse every Nth allocation; 0: none").always(),
        choice<&M::accounting>("accounting", "whether allocations and frees are counted").unless_default(),
        key<M>("trim", OptionKind::object, "trim arrays in use while the working set is above a limit"),
    };
    return table;
}

const OptionTable<model::TrimPolicy>& memory_trim_table()
{
    using T = model::TrimPolicy;
    static const OptionTable<T> table{
        rows::listed_below<T>(""),
        rows::size<&T::above_bytes>("above",
                                    "arrays in use are trimmed once the process's resident set exceeds this; 0: never")
            .required(),
        rows::choice<&T::how>("how", "by which mechanism"),
    };
    return table;
}

const OptionTable<model::NumaSpec>& numa_table()
{
    using N = model::NumaSpec;
    static const OptionTable<N> table{
        rows::listed_below<N>(""),
        rows::choice<&N::policy>("policy", "how nodes are chosen"),
        rows::bound<N>(
            "nodes", OptionKind::shape, "numbers of the nodes", [](const N& numa) { return nodes_of(numa); },
            [](N& numa, const Value& value) { set_nodes(numa, value); })
            .within(0, 63)
            .by([](const N& numa) { return Value{numa.nodes}; }),
    };
    return table;
}

const OptionTable<model::SafetySpec>& safety_table()
{
    using S = model::SafetySpec;
    static const OptionTable<S> table{
        rows::listed_below<S>(""),
        rows::choice<&S::detect>("detect", "how a use of freed memory is noticed"),
        rows::size<&S::quarantine_bytes>("quarantine", 1, any_size,
                                         "detect quarantine: how much freed memory is kept from reuse"),
        rows::flag<&S::guard_pages>("guard_pages",
                                    "each array ends against an inaccessible page, so that an overrun traps"),
        rows::flag<&S::ignore_manual_free>("ignore_manual_free", "manual frees are ignored: results must not change"),
    };
    return table;
}

const OptionTable<model::PoolSpec>& pool_table()
{
    using namespace rows;
    using P = model::PoolSpec;
    static const OptionTable<P> table{
        listed_below<P>(""),
        choice<&P::kind>("kind", "how memory is kept"),
        bound<P>(
            "preset", OptionKind::choice,
            "a named set of blocks, lifetimes and intervals to start from; other keys override it",
            [](const P&) { return Value{std::string{preset_names().front()}}; },
            [](P& pool, const Value& name) { apply_preset(std::get<std::string>(name), pool); })
            .one_of(preset_names)
            .left_out(),
        choice<&P::classes>("classes", "classes: how sizes are divided into classes"),
        number<&P::factor>("factor", 1, 16, "geometric: ratio of each class to the one before; above 1"),
        size<&P::smallest>("smallest", 1, any_size, "smaller requests bypass the pool"),
        size<&P::largest>("largest", 1, any_size, "larger requests bypass the pool"),
        size<&P::alignment>("alignment", 1, 4096,
                            "alignment of every block, a power of two; stricter requests bypass the pool"),
        choice<&P::topology>("topology", "classes: how threads share the pool"),
        integer<&P::thread_blocks>("thread_blocks", 0, 62, "tiered: most blocks of a class that a thread keeps"),
        size<&P::thread_bytes>("thread_bytes", "tiered: most bytes of a class that a thread keeps"),
        integer<&P::depot_blocks>("depot_blocks", 0, 100'000, "most blocks of a class in its depot, or in a stripe"),
        size<&P::depot_bytes>("depot_bytes", "the same in bytes"),
        integer<&P::stripes>("stripes", 0, 1024, "striped: number of stripes; 0: one per processor"),
        integer<&P::per_class>("per_class", 0, 1'000'000, "most blocks of a class in the common store; 0: any number"),
        size<&P::class_bytes>("class_bytes", "the same in bytes; 0: any number"),
        size<&P::limit_bytes>("limit", "most idle bytes in the common store, or in chunks that could be returned"),
        choice<&P::on_full>("on_full", "what is evicted when the common store is full, and trimmed first"),
        choice<&P::zeros>("zeros", "classes: where zeros come from in reused memory"),
        duration<&P::trim_interval_ns>("trim_interval", 0, day,
                                       "time between passes of the maintenance thread; 0: no such thread"),
        number<&P::trim_to>("trim_to", 0, 1, "share of the idle bytes that a pass leaves"),
        duration<&P::lifetime_ns>(
            "lifetime", 0, day,
            "a pass returns blocks that lay in the common store for longer; 0: it returns none for their age"),
        duration<&P::decay_ns>("decay", 0, day,
                               "idle bytes decay along a smooth curve over this time, as in jemalloc; 0: no decay"),
        number<&P::pressure>("pressure", 0, 100,
                             "percent of time stalled for memory (PSI) from which a pass empties the pool; 0: "
                             "never"),
        number<&P::cgroup_share>("cgroup_share", 0, 1,
                                 "used share of the control group's limit from which a pass empties the pool; 0: "
                                 "never"),
        flag<&P::per_node>(
            "per_node",
            "classes: a pool for each NUMA node, in memory of that node; only with resources that map pages")
            .unless_default(),
        size<&P::chunk_bytes>("chunk", 4096, any_size, "best_fit, tlsf: bytes requested from the resource at a time"),
    };
    return table;
}

}  // namespace memsweep::scenarios
