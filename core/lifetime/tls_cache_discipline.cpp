#include "core/lifetime/tls_cache_discipline.hpp"

namespace memsweep::lifetime {

TlsCacheDiscipline::~TlsCacheDiscipline()
{
    while (Block* const block = cache_.take_any()) {
        reclaimer().free(*block);
    }
}

void TlsCacheDiscipline::unreachable(Block& block) noexcept
{
    if (!cache_.put(block)) {
        reclaimer().free(block);
    }
}

DisciplineStats TlsCacheDiscipline::stats() const noexcept
{
    DisciplineStats stats;
    stats.cache_hits = cache_.hits();
    stats.cache_misses = cache_.misses();
    stats.idle_bytes = cache_.idle_bytes();
    return stats;
}

}  // namespace memsweep::lifetime
