// Returned to a bounded cache of the thread that drops it, by exact size, and handed out again from there.
//
// A buffer dropped by another thread lands in that thread's cache.
// Cost     see thread_cache.hpp; a heap and its handles use the cache without asking this class.
// Ownership  destruction frees what lies idle.
#pragma once

#include <cstring>

#include "core/lifetime/discipline.hpp"
#include "core/lifetime/thread_cache.hpp"

namespace memsweep::lifetime {

class TlsCacheDiscipline final : public Discipline {
  public:
    TlsCacheDiscipline(const model::ReleaseSpec& spec, Reclaimer& reclaimer)
        : Discipline{reclaimer}, cache_{spec.cache.per_size, spec.cache.limit_bytes}
    {
    }
    ~TlsCacheDiscipline() override;

    [[nodiscard]] ThreadCache* thread_cache() noexcept override { return &cache_; }
    void unreachable(Block& block) noexcept override;
    [[nodiscard]] DisciplineStats stats() const noexcept override;
    void reset_counts() noexcept override { cache_.reset_counts(); }

  private:
    ThreadCache cache_;
};

}  // namespace memsweep::lifetime
