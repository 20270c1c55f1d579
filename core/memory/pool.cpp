#include "core/memory/pool.hpp"

#include "core/base/assert.hpp"
#include "core/memory/class_pool.hpp"
#include "core/memory/range_pool.hpp"

namespace memsweep::memory {

const std::array<std::uint64_t PoolStats::*, 13> PoolStats::sums{
    &PoolStats::thread_hits,  &PoolStats::depot_hits,      &PoolStats::common_hits,  &PoolStats::misses,
    &PoolStats::bypasses,     &PoolStats::requested_bytes, &PoolStats::served_bytes, &PoolStats::released_bytes,
    &PoolStats::evictions,    &PoolStats::passes,          &PoolStats::trims,        &PoolStats::trim_ns,
    &PoolStats::short_blocks,
};

std::unique_ptr<Pool> make_pool(const model::PoolSpec& spec, MemoryResource& upstream)
{
    switch (spec.kind) {
    case model::PoolKind::none:
        return nullptr;
    case model::PoolKind::classes:
        return std::make_unique<ClassPool>(spec, upstream);
    case model::PoolKind::best_fit:
    case model::PoolKind::tlsf:
        return std::make_unique<RangePool>(spec, upstream);
    }
    MEMSWEEP_ASSERT(false, "a pool kind outside its enumeration");
}

}  // namespace memsweep::memory
