// How a pool between the arrays and their resource is built: its size classes and their sizes, its tiers, what it keeps
// and for how long.
//
// Units    every scalar's name carries its unit; 0 in a bound or a time means "none".
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/names.hpp"

namespace memsweep::model {

enum class PoolKind : std::uint8_t {
    none,
    classes,   // idle blocks by size class
    best_fit,  // ranges of chunks, the smallest that fits, coalesced
    tlsf,      // the same ranges, found by two levels of bitmaps
};

enum class ClassScheme : std::uint8_t {
    quad,  // four per doubling
    pow2,
    exact,
    geometric,
    dotcompute_guide,
    dotcompute_arch,
    dotcompute_code,
};

enum class PoolTopology : std::uint8_t { tiered, striped };

// Which idle block goes when a pool is full, or is to shrink.
enum class Eviction : std::uint8_t { returned, lru, lfu, fifo, largest };

// Where zeros come from when a block is reused.
enum class ZeroRule : std::uint8_t { on_take, on_return, fresh };

struct PoolSpec {
    PoolKind kind{PoolKind::none};
    ClassScheme classes{ClassScheme::quad};
    double factor{1.25};        // of the geometric classes
    std::uint64_t smallest{1};  // requests outside of [smallest, largest] bypass the pool
    std::uint64_t largest{1U << 30U};
    std::uint32_t alignment{16};  // of every block; stricter requests bypass the pool
    PoolTopology topology{PoolTopology::tiered};
    std::uint32_t thread_blocks{8};  // of a class, kept by a thread
    std::uint64_t thread_bytes{1U << 20U};
    std::uint32_t depot_blocks{100};  // of a class, kept for all threads
    std::uint64_t depot_bytes{16U << 20U};
    std::uint32_t stripes{};               // striped: 0: one per processor
    std::uint32_t per_class{};             // blocks of a class that lie idle beyond threads and depot
    std::uint64_t class_bytes{};           // the same in bytes
    std::uint64_t limit_bytes{1U << 30U};  // idle in all, beyond threads
    Eviction on_full{Eviction::returned};
    ZeroRule zeros{ZeroRule::on_take};
    std::uint64_t trim_interval_ns{};       // the maintenance thread's; 0: there is none
    double trim_to{1};                      // of the idle bytes, at each pass
    std::uint64_t lifetime_ns{};            // what lay idle for longer is given back
    std::uint64_t decay_ns{};               // idle bytes follow a smooth curve to nothing over this time
    double pressure{};                      // percent of time stalled for memory that empties the pool
    double cgroup_share{};                  // of the control group's limit that empties the pool
    bool per_node{};                        // classes: a pool for each NUMA node, in memory of that node
    std::uint64_t chunk_bytes{64U << 20U};  // best_fit, tlsf: asked of the resource at a time
    friend bool operator==(const PoolSpec&, const PoolSpec&) = default;
};

template <>
std::span<const Named<PoolKind>> names<PoolKind>();
template <>
std::span<const Named<ClassScheme>> names<ClassScheme>();
template <>
std::span<const Named<PoolTopology>> names<PoolTopology>();
template <>
std::span<const Named<Eviction>> names<Eviction>();
template <>
std::span<const Named<ZeroRule>> names<ZeroRule>();

// The sizes of a scheme up to the first that holds `largest`, without a pool's bounds; empty for exact.
[[nodiscard]] std::vector<std::uint64_t> class_sizes(ClassScheme scheme, double factor, std::uint64_t largest);

// The block that a pool gives for a request: its class; without one, or past the pool, the request itself.
[[nodiscard]] std::uint64_t served_bytes(const PoolSpec& pool, std::uint64_t bytes);

}  // namespace memsweep::model
