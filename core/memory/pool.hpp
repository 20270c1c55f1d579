// A pool: a resource that keeps freed blocks and hands them out again.
//
// Units    bytes, blocks, counts, nanoseconds.
// Errors   if the upstream refuses, the pool returns all idle blocks to it and asks once more.
// Memory   a pool never reads or writes idle blocks, so their pages stay unchanged. Its lists are arrays in mappings of
//          their own, not in the malloc heap, which is being measured.
// Threads  any; trim leaves the caches of other living threads alone.
// Ownership  borrows the upstream. The destructor returns all idle blocks to the upstream; no block may be in use when
//          it runs.
#pragma once

#include <array>
#include <cstdint>

#include "core/memory/resource.hpp"
#include "core/model/pool_spec.hpp"

namespace memsweep::memory {

// The fields in `sums` count from the last call of reset_counts. All fields are exact after the threads that use the
// pool have been joined.
struct PoolStats {
    std::uint64_t thread_hits{};  // requests served by the thread's own cache
    std::uint64_t depot_hits{};   // requests served by a depot, or by the thread's own stripe
    std::uint64_t common_hits{};  // requests served by the common store, another thread's stripe, or a chunk
    std::uint64_t misses{};       // requests served by new blocks or chunks from the upstream
    // Requests passed to the upstream: too large, too small or too strictly aligned for the pool.
    std::uint64_t bypasses{};
    std::uint64_t requested_bytes{};  // of all hits and misses
    std::uint64_t served_bytes{};     // sizes of the blocks given for all hits and misses: at least requested_bytes
    std::uint64_t idle_bytes{};
    std::uint64_t idle_blocks{};
    std::uint64_t largest_idle_bytes{};  // size of the largest idle block
    std::uint64_t held_bytes{};          // taken from the upstream and not returned yet, in use or idle
    std::uint64_t held_bytes_peak{};
    std::uint64_t released_bytes{};  // returned to the upstream: evicted or trimmed
    std::uint64_t evictions{};       // blocks returned because the pool was full
    std::uint64_t passes{};          // passes of the maintenance thread
    std::uint64_t trims{};           // trims that returned memory, by passes or by other calls of trim()
    std::uint64_t trim_ns{};         // time spent in these trims
    // Only for dotcompute-code: requests that the original library would serve with too short a block.
    std::uint64_t short_blocks{};

    [[nodiscard]] std::uint64_t hits() const noexcept { return thread_hits + depot_hits + common_hits; }

    static const std::array<std::uint64_t PoolStats::*, 13> sums;  // the fields that reset_counts sets to 0
};

inline constexpr std::array<std::uint64_t PoolStats::*, 13> PoolStats::sums{
    &PoolStats::thread_hits,  &PoolStats::depot_hits,      &PoolStats::common_hits,  &PoolStats::misses,
    &PoolStats::bypasses,     &PoolStats::requested_bytes, &PoolStats::served_bytes, &PoolStats::released_bytes,
    &PoolStats::evictions,    &PoolStats::passes,          &PoolStats::trims,        &PoolStats::trim_ns,
    &PoolStats::short_blocks,
};

class Pool : public MemoryResource {
  public:
    // Returns idle memory to the upstream until at most `keep_bytes` are idle, as far as the pool can reach its idle
    // blocks. Returns how many bytes went back to the upstream.
    virtual std::uint64_t trim(std::uint64_t keep_bytes) noexcept = 0;

    // For pools that record how long blocks have been idle; other pools do nothing. age() starts to count the age of
    // the blocks that have not been used since the last call of age(). release_older() returns to the upstream all
    // blocks that became idle before `since_ns`. Its result is the number of their bytes.
    virtual void age() noexcept {}
    virtual std::uint64_t release_older(std::int64_t /*since_ns*/) noexcept { return 0; }

    [[nodiscard]] virtual PoolStats stats() const noexcept = 0;
    virtual void reset_counts() noexcept = 0;
};

}  // namespace memsweep::memory
