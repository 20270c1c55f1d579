#include "core/memory/thread_tier.hpp"

#include <new>

namespace memsweep::memory {

ThreadTier::~ThreadTier()
{
    for (std::atomic<Cache*>& cache : caches_) {
        delete cache.load(std::memory_order_acquire);
    }
}

ThreadTier::Cache* ThreadTier::find_or_make() noexcept
{
    const std::uint32_t slot = thread_slot();
    if (slot >= thread_slots) {
        return nullptr;
    }
    Cache* cache = caches_[slot].load(relaxed);
    if (cache != nullptr) {
        return cache;
    }
    try {
        cache = new Cache{classes_, magazine_bytes_};
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
    caches_[slot].store(cache, std::memory_order_release);
    memories_[slot].store(cache, relaxed);
    return cache;
}

}  // namespace memsweep::memory
