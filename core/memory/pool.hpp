// A resource that keeps what is returned to it and hands it out again.
//
// Units    bytes, blocks, counts, nanoseconds.
// Errors   if the upstream refuses, the pool gives back everything idle and asks once more.
// Memory   a pool never reads or writes idle blocks. Its lists are arrays in mappings of their own, so idle pages stay
//          unchanged and the measured malloc heap does not hold the lists.
// Threads  any; trim leaves the caches of other living threads alone.
// Ownership  borrows the upstream; destruction gives everything idle back, and nothing may be in use then.
#pragma once

#include <array>
#include <cstdint>

#include "core/memory/resource.hpp"
#include "core/model/pool_spec.hpp"

namespace memsweep::memory {

// Sums are since the last reset_counts. Exact once the threads that use the pool have been waited for.
struct PoolStats {
    std::uint64_t thread_hits{};      // served by the thread's own cache
    std::uint64_t depot_hits{};       // by a depot or a stripe
    std::uint64_t common_hits{};      // by the common store, another thread's stripe, or a chunk
    std::uint64_t misses{};           // by the upstream
    std::uint64_t bypasses{};         // by the upstream, without the pool: too large, too small, too strictly aligned
    std::uint64_t requested_bytes{};  // by hits and misses
    std::uint64_t served_bytes{};     // given for these: at least as much
    std::uint64_t idle_bytes{};
    std::uint64_t idle_blocks{};
    std::uint64_t largest_idle_bytes{};  // in one piece
    std::uint64_t held_bytes{};          // acquired from the upstream and not given back, in use or idle
    std::uint64_t held_bytes_peak{};
    std::uint64_t released_bytes{};  // given back: evicted, trimmed
    std::uint64_t evictions{};       // blocks that went because the pool was full
    std::uint64_t passes{};          // made by the maintenance thread
    std::uint64_t trims{};           // passes and manual trims that gave something back
    std::uint64_t trim_ns{};         // spent in them
    std::uint64_t short_blocks{};    // dotcompute-code: blocks found too short for the request, and not handed out

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
    // Gives idle memory back until at most this much is left. Returns the bytes given back.
    virtual std::uint64_t trim(std::uint64_t keep_bytes) noexcept = 0;

    // For pools that know how long blocks have been idle. age: blocks that nobody needed since the last call begin to
    // age. release_older: gives back blocks idle since before then; returns the bytes given back.
    virtual void age() noexcept {}
    virtual std::uint64_t release_older(std::int64_t /*since_ns*/) noexcept { return 0; }

    [[nodiscard]] virtual PoolStats stats() const noexcept = 0;
    virtual void reset_counts() noexcept = 0;
};

}  // namespace memsweep::memory
