// The design of a pool between arrays and their resource: its size classes, its tiers, how much it keeps and for how
// long.
//
// Units    every scalar's name carries its unit; 0 in a bound or a time means "none".
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
    {PoolKind::tlsf, "tlsf", "the same ranges, found in constant time by two levels of bitmaps"},
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
    {PoolTopology::striped, "striped", "buckets by thread number: the own one first, then the others"},
});

// Which idle block goes if a pool is full, or is to shrink.
enum class Eviction : std::uint8_t { returned, lru, lfu, fifo, largest };

template <>
inline constexpr auto name_table<Eviction> = std::to_array<Named<Eviction>>({
    {Eviction::returned, "returned", "the block that comes back"},
    {Eviction::lru, "lru", "the oldest block of the class that was used longest ago"},
    {Eviction::lfu, "lfu", "the oldest block of the class with the fewest hits"},
    {Eviction::fifo, "fifo", "the block that came first"},
    {Eviction::largest, "largest", "the oldest of the largest blocks"},
});

// When a block is cleared for reuse, if at all.
enum class ZeroRule : std::uint8_t { on_take, on_return, fresh };

template <>
inline constexpr auto name_table<ZeroRule> = std::to_array<Named<ZeroRule>>({
    {ZeroRule::on_take, "on_take", "written when a reused block is to read as zeros"},
    {ZeroRule::on_return, "on_return", "written whenever a block comes back"},
    {ZeroRule::fresh, "fresh", "never written: who asks for zeros gets fresh memory"},
});

struct PoolSpec {
    PoolKind kind{PoolKind::none};
    ClassScheme classes{ClassScheme::quad};
    double factor{1.25};        // between geometric classes
    std::uint64_t smallest{1};  // requests outside of [smallest, largest] bypass the pool
    std::uint64_t largest{1U << 30U};
    std::uint32_t alignment{16};  // every block's; stricter requests bypass the pool
    PoolTopology topology{PoolTopology::tiered};
    std::uint32_t thread_blocks{8};  // blocks of a class that a thread keeps
    std::uint64_t thread_bytes{1U << 20U};
    std::uint32_t depot_blocks{100};  // blocks of a class that are kept for all threads
    std::uint64_t depot_bytes{16U << 20U};
    std::uint32_t stripes{};               // striped: 0: one per processor
    std::uint32_t per_class{};             // blocks of a class that lie idle beyond threads and depot
    std::uint64_t class_bytes{};           // the same in bytes
    std::uint64_t limit_bytes{1U << 30U};  // idle in all, beyond threads
    Eviction on_full{Eviction::returned};
    ZeroRule zeros{ZeroRule::on_take};
    std::uint64_t trim_interval_ns{};       // the maintenance thread's; 0: there is none
    double trim_to{1};                      // share of the idle bytes that each pass leaves
    std::uint64_t lifetime_ns{};            // blocks idle for longer are given back
    std::uint64_t decay_ns{};               // idle bytes follow a smooth curve to nothing over this time
    double pressure{};                      // percent of time stalled for memory that empties the pool
    double cgroup_share{};                  // share of the control group's limit that empties the pool
    bool per_node{};                        // classes: a pool for each NUMA node, in memory of that node
    std::uint64_t chunk_bytes{64U << 20U};  // best_fit, tlsf: requested from the resource at a time
    friend bool operator==(const PoolSpec&, const PoolSpec&) = default;
};

// The sizes of a scheme up to the first that holds `largest`, without a pool's bounds; empty for exact.
[[nodiscard]] std::vector<std::uint64_t> class_sizes(ClassScheme scheme, double factor, std::uint64_t largest);

// The block that a pool gives for a request: its class; without one, or past the pool, the request itself.
[[nodiscard]] std::uint64_t served_bytes(const PoolSpec& pool, std::uint64_t bytes);

}  // namespace memsweep::model
