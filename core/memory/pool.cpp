#include "core/memory/pool.hpp"

#include "core/base/assert.hpp"
#include "core/memory/class_pool.hpp"
#include "core/memory/node_pools.hpp"
#include "core/memory/range_pool.hpp"
#include "core/sys/numa.hpp"

namespace memsweep::memory {

const std::array<std::uint64_t PoolStats::*, 13> PoolStats::sums{
    &PoolStats::thread_hits,  &PoolStats::depot_hits,      &PoolStats::common_hits,  &PoolStats::misses,
    &PoolStats::bypasses,     &PoolStats::requested_bytes, &PoolStats::served_bytes, &PoolStats::released_bytes,
    &PoolStats::evictions,    &PoolStats::passes,          &PoolStats::trims,        &PoolStats::trim_ns,
    &PoolStats::short_blocks,
};

namespace {

// Those that a policy can name.
std::vector<std::uint32_t> nodes_of_pools()
{
    std::vector<std::uint32_t> nodes = sys::nodes_with_memory();
    std::erase_if(nodes, [](std::uint32_t node) { return node >= 64; });
    return nodes.empty() ? std::vector<std::uint32_t>{0} : nodes;
}

}  // namespace

std::unique_ptr<Pool> make_pool(const model::PoolSpec& spec, MemoryResource& upstream, std::size_t page_bytes)
{
    switch (spec.kind) {
    case model::PoolKind::none:
        return nullptr;
    case model::PoolKind::classes:
        if (spec.per_node) {
            return std::make_unique<NodePools>(spec, upstream, nodes_of_pools(), page_bytes);
        }
        return std::make_unique<ClassPool>(spec, upstream);
    case model::PoolKind::best_fit:
    case model::PoolKind::tlsf:
        return std::make_unique<RangePool>(spec, upstream);
    }
    MEMSWEEP_ASSERT(false, "a pool kind outside its enumeration");
}

}  // namespace memsweep::memory
