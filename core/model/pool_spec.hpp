// The design of a pool, which keeps freed memory between the arrays and their memory resource: its size classes, its
// tiers, how much memory it keeps and for how long.
//
// Units    as in the names of the fields. 0 in a limit or a time means "none".
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/names.hpp"

namespace memsweep::model {

enum class PoolKind : std::uint8_t { none, classes, best_fit, tlsf };

template <>
inline constexpr auto name_table<PoolKind> = std::to_array<Named<PoolKind>>({
    {PoolKind::none, "none", "no pool: every array comes from the resource and goes back to it"},
    {PoolKind::classes, "classes", "idle blocks by size class, kept by threads, depots and a common store"},
    {PoolKind::best_fit, "best_fit", "ranges cut from chunks: the smallest that fits; neighbours coalesce"},
    {PoolKind::tlsf, "tlsf", "ranges as of best_fit, found in constant time by two levels of bitmaps (TLSF)"},
});

enum class ClassScheme : std::uint8_t {
    quad,
    pow2,
    exact,
    geometric,
    dotcompute_guide,
    dotcompute_arch,
    dotcompute_code
};

template <>
inline constexpr auto name_table<ClassScheme> = std::to_array<Named<ClassScheme>>({
    {ClassScheme::quad, "quad", "four classes per doubling, from 16 B: at most a quarter is wasted"},
    {ClassScheme::pow2, "pow2", "powers of two, from 16 B"},
    {ClassScheme::exact, "exact", "every size is a class of its own, 1,024 at most"},
    {ClassScheme::geometric, "geometric", "each class is `factor` times the one before"},
    {ClassScheme::dotcompute_guide, "dotcompute-guide", "doublings from 4 KiB to 512 MiB"},
    {ClassScheme::dotcompute_arch, "dotcompute-arch", "21 doublings from 1 KiB to 1 GiB"},
    {ClassScheme::dotcompute_code, "dotcompute-code",
     "21 doublings from 256 B to 256 MiB; larger requests look in the last class, whose blocks are too short"},
});

enum class PoolTopology : std::uint8_t { tiered, striped };

template <>
inline constexpr auto name_table<PoolTopology> = std::to_array<Named<PoolTopology>>({
    {PoolTopology::tiered, "tiered", "each thread's own cache, then a depot per class, then a common store"},
    {PoolTopology::striped, "striped", "buckets by thread number: a thread looks in its own first, then in the others"},
});

// Which idle block is removed if a pool is full or must shrink.
enum class Eviction : std::uint8_t { returned, lru, lfu, fifo, largest };

template <>
inline constexpr auto name_table<Eviction> = std::to_array<Named<Eviction>>({
    {Eviction::returned, "returned", "the block that is being returned"},
    {Eviction::lru, "lru", "the oldest block of the least recently used class"},
    {Eviction::lfu, "lfu", "the oldest block of the class with the fewest hits"},
    {Eviction::fifo, "fifo", "the block that was returned first"},
    {Eviction::largest, "largest", "the oldest of the largest blocks"},
});

// When a block is cleared for reuse, if ever.
enum class ZeroRule : std::uint8_t { on_take, on_return, fresh };

template <>
inline constexpr auto name_table<ZeroRule> = std::to_array<Named<ZeroRule>>({
    {ZeroRule::on_take, "on_take", "zeros are written when a reused block must read as zeros"},
    {ZeroRule::on_return, "on_return", "zeros are written whenever a block is returned"},
    {ZeroRule::fresh, "fresh", "zeros are never written: a request for zeros gets fresh memory"},
});

struct PoolSpec {
    PoolKind kind{PoolKind::none};
    ClassScheme classes{ClassScheme::quad};
    double factor{1.25};        // geometric: size of a class divided by the size of the next smaller class
    std::uint64_t smallest{1};  // requests below `smallest` or above `largest` bypass the pool
    std::uint64_t largest{1U << 30U};
    std::uint32_t alignment{16};  // of every block; requests with a larger alignment bypass the pool
    PoolTopology topology{PoolTopology::tiered};
    std::uint32_t thread_blocks{8};  // largest number of blocks of a class in a thread's cache
    std::uint64_t thread_bytes{1U << 20U};
    std::uint32_t depot_blocks{100};  // largest number of blocks of a class in a depot or a stripe
    std::uint64_t depot_bytes{16U << 20U};
    std::uint32_t stripes{};               // striped: the number of stripes; 0: one per processor
    std::uint32_t per_class{};             // largest number of blocks of a class in the common store
    std::uint64_t class_bytes{};           // largest number of bytes of a class in the common store
    std::uint64_t limit_bytes{1U << 30U};  // largest number of bytes in the common store; best_fit, tlsf: of idle bytes
    Eviction on_full{Eviction::returned};
    ZeroRule zeros{ZeroRule::on_take};
    std::uint64_t trim_interval_ns{};  // time between two passes of the maintenance thread; 0: no such thread
    double trim_to{1};                 // share of the idle bytes that each pass keeps
    std::uint64_t lifetime_ns{};       // a pass returns blocks that have been idle for longer than this
    std::uint64_t decay_ns{};          // time over which a smooth curve reduces idle bytes to nothing
    double pressure{};      // a pass empties the pool if tasks waited for memory for at least this percentage of time
    double cgroup_share{};  // a pass empties the pool if the control group has used at least this share of its limit
    bool per_node{};        // classes: each NUMA node has a pool of its own, in its own memory
    std::uint64_t chunk_bytes{64U << 20U};  // best_fit, tlsf: size of the chunks taken from the resource
    friend bool operator==(const PoolSpec&, const PoolSpec&) = default;
};

// Returns the class sizes of a scheme in bytes, in ascending order; empty for `exact`, where every size is a class. The
// list includes the class for requests of `largest` bytes, if the scheme has one. The three dotcompute schemes have
// fixed sizes, and all of these are returned.
[[nodiscard]] std::vector<std::uint64_t> class_sizes(ClassScheme scheme, double factor, std::uint64_t largest);

// Returns the size of the block that a pool gives for a request of `bytes` bytes: the size of the request's class. If
// the request has no class or bypasses the pool, returns `bytes`.
[[nodiscard]] std::uint64_t served_bytes(const PoolSpec& pool, std::uint64_t bytes);

}  // namespace memsweep::model
