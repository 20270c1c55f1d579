// A pool that cuts what is asked for from chunks and joins what comes back with its free neighbours: best fit, or TLSF.
//
// Units    bytes; sizes are rounded up to the pool's alignment.
// Cost     one lock. TLSF constant; best fit looks at the free ranges of nearly the same size. Zeros are always
// written. Memory   chunks of chunk_bytes, or of a request that is larger. A chunk that is free as a whole goes back
// when more
//          than limit_bytes lie idle.
// Errors   a block that comes back twice, or never came from here, is a bug and stops the process.
// Threads  any, one at a time.
#pragma once

#include <mutex>

#include "core/memory/address_map.hpp"
#include "core/memory/pool.hpp"
#include "core/memory/range_records.hpp"

namespace memsweep::memory {

class RangePool final : public Pool {
  public:
    RangePool(const model::PoolSpec& spec, MemoryResource& upstream);
    ~RangePool() override;

    [[nodiscard]] Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override;
    [[nodiscard]] Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override;
    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override;

    std::uint64_t trim(std::uint64_t keep_bytes) noexcept override;
    [[nodiscard]] PoolStats stats() const noexcept override;
    void reset_counts() noexcept override;

  private:
    using Number = RangeRecords::Number;

    [[nodiscard]] bool serves(std::size_t bytes, std::size_t alignment) const noexcept;
    [[nodiscard]] std::uint64_t rounded(std::size_t bytes) const noexcept;
    [[nodiscard]] Number find(std::uint64_t bytes) const noexcept;
    [[nodiscard]] Number take(std::uint64_t bytes) noexcept;
    [[nodiscard]] AllocStatus grow(std::uint64_t bytes) noexcept;
    [[nodiscard]] Number joined(Number left, Number right) noexcept;
    void give_back(Number chunk) noexcept;
    std::uint64_t release_chunks(std::uint64_t keep_bytes) noexcept;

    const model::PoolSpec spec_;
    MemoryResource& upstream_;
    mutable std::mutex mutex_;  // guards everything below
    RangeRecords ranges_;
    AddressMap in_use_;
    PoolStats stats_;  // sums; the rest is looked up when asked for
};

}  // namespace memsweep::memory
