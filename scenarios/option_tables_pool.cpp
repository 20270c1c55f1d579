// The table of pools.
#include <array>
#include <limits>

#include "core/model/pool_spec.hpp"
#include "scenarios/options.hpp"
#include "scenarios/pool_presets.hpp"

namespace memsweep::scenarios {
namespace {

using enum OptionKind;

constexpr std::uint64_t any_size = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t us = 1000;
constexpr std::uint64_t ms = 1000 * us;
constexpr std::uint64_t day = 24ULL * 3600 * 1000 * ms;
constexpr std::uint64_t million = 1'000'000;

constexpr std::array pool_table{
    OptionInfo{"kind", choice, false, "none", 0, 0, model::all_names<model::PoolKind>, "how memory is kept"},
    OptionInfo{"preset", choice, false, "default", 0, 0, preset_names,
               "values to begin with: blocks, lifetimes and intervals; other keys change them"},
    OptionInfo{"classes", choice, false, "quad", 0, 0, model::all_names<model::ClassScheme>, "classes: their sizes"},
    OptionInfo{"factor", number, false, "1.25", 1, 16, nullptr, "geometric: from class to class; above 1"},
    OptionInfo{"smallest", size, false, "1", 1, any_size, nullptr, "smaller requests bypass the pool"},
    OptionInfo{"largest", size, false, "1GiB", 1, any_size, nullptr, "larger requests bypass the pool"},
    OptionInfo{"alignment", size, false, "16", 1, 4096, nullptr,
               "of every block, a power of two; stricter requests bypass the pool"},
    OptionInfo{"topology", choice, false, "tiered", 0, 0, model::all_names<model::PoolTopology>,
               "classes: how threads share it"},
    OptionInfo{"thread_blocks", integer, false, "8", 0, 62, nullptr, "tiered: of a class, kept by a thread"},
    OptionInfo{"thread_bytes", size, false, "1MiB", 0, any_size, nullptr, "tiered: the same in bytes"},
    OptionInfo{"depot_blocks", integer, false, "100", 0, 100'000, nullptr,
               "of a class, kept in its depot, or in a stripe"},
    OptionInfo{"depot_bytes", size, false, "16MiB", 0, any_size, nullptr, "the same in bytes"},
    OptionInfo{"stripes", integer, false, "0", 0, 1024, nullptr, "striped: how many; 0: one per processor"},
    OptionInfo{"per_class", integer, false, "0", 0, million, nullptr,
               "blocks of a class in the common store; 0: any number"},
    OptionInfo{"class_bytes", size, false, "0", 0, any_size, nullptr, "the same in bytes; 0: any number"},
    OptionInfo{"limit", size, false, "1GiB", 0, any_size, nullptr,
               "idle in the common store, or in chunks that could go back"},
    OptionInfo{"on_full", choice, false, "returned", 0, 0, model::all_names<model::Eviction>,
               "what goes when the common store is full, and first when it is trimmed"},
    OptionInfo{"zeros", choice, false, "on_take", 0, 0, model::all_names<model::ZeroRule>,
               "classes: where zeros come from in reused memory"},
    OptionInfo{"trim_interval", duration, false, "0ns", 0, day, nullptr,
               "between the passes of the maintenance thread; 0: there is none"},
    OptionInfo{"trim_to", number, false, "1", 0, 1, nullptr, "share of the idle bytes that a pass leaves"},
    OptionInfo{"lifetime", duration, false, "0ns", 0, day, nullptr,
               "a pass gives back what lay in the common store for longer; 0: nothing"},
    OptionInfo{"decay", duration, false, "0ns", 0, day, nullptr,
               "idle bytes fade along a smooth curve over this time, as in jemalloc; 0: they do not"},
    OptionInfo{"pressure", number, false, "0", 0, 100, nullptr,
               "percent of time stalled for memory (PSI) from which a pass empties the pool; 0: never"},
    OptionInfo{"cgroup_share", number, false, "0", 0, 1, nullptr,
               "used share of the control group's limit from which a pass empties the pool; 0: never"},
    OptionInfo{"per_node", boolean, false, "false", 0, 0, nullptr,
               "classes: a pool for each NUMA node, in memory of that node; with resources that map pages"},
    OptionInfo{"chunk", size, false, "64MiB", 4096, any_size, nullptr,
               "best_fit, tlsf: asked of the resource at a time"},
};

}  // namespace

std::span<const OptionInfo> pool_options()
{
    return pool_table;
}

}  // namespace memsweep::scenarios
