#include "core/model/pool_spec.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace memsweep::model {

template <>
std::span<const Named<PoolKind>> names<PoolKind>()
{
    static constexpr std::array<Named<PoolKind>, 4> table{{
        {PoolKind::none, "none", "no pool: every array comes from the resource and goes back to it"},
        {PoolKind::classes, "classes", "idle blocks by size class, kept by threads, depots and a common store"},
        {PoolKind::best_fit, "best_fit", "ranges cut from chunks: the smallest that fits; neighbours coalesce"},
        {PoolKind::tlsf, "tlsf", "the same ranges, found in constant time by two levels of bitmaps"},
    }};
    return table;
}

template <>
std::span<const Named<ClassScheme>> names<ClassScheme>()
{
    static constexpr std::array<Named<ClassScheme>, 7> table{{
        {ClassScheme::quad, "quad", "four classes per doubling, from 16 B: at most a quarter is wasted"},
        {ClassScheme::pow2, "pow2", "powers of two, from 16 B"},
        {ClassScheme::exact, "exact", "every size is a class of its own, 1,024 at most"},
        {ClassScheme::geometric, "geometric", "each class is `factor` times the one before"},
        {ClassScheme::dotcompute_guide, "dotcompute-guide", "doublings from 4 KiB to 512 MiB"},
        {ClassScheme::dotcompute_arch, "dotcompute-arch", "21 doublings from 1 KiB to 1 GiB"},
        {ClassScheme::dotcompute_code, "dotcompute-code",
         "21 doublings from 256 B to 256 MiB; larger requests look in the last class, whose blocks are too short"},
    }};
    return table;
}

template <>
std::span<const Named<PoolTopology>> names<PoolTopology>()
{
    static constexpr std::array<Named<PoolTopology>, 2> table{{
        {PoolTopology::tiered, "tiered", "each thread's own cache, then a depot per class, then a common store"},
        {PoolTopology::striped, "striped", "buckets by thread number: the own one first, then the others"},
    }};
    return table;
}

template <>
std::span<const Named<Eviction>> names<Eviction>()
{
    static constexpr std::array<Named<Eviction>, 5> table{{
        {Eviction::returned, "returned", "the block that comes back"},
        {Eviction::lru, "lru", "the oldest block of the class that was used longest ago"},
        {Eviction::lfu, "lfu", "the oldest block of the class with the fewest hits"},
        {Eviction::fifo, "fifo", "the block that came first"},
        {Eviction::largest, "largest", "the oldest of the largest blocks"},
    }};
    return table;
}

template <>
std::span<const Named<ZeroRule>> names<ZeroRule>()
{
    static constexpr std::array<Named<ZeroRule>, 3> table{{
        {ZeroRule::on_take, "on_take", "written when a reused block is to read as zeros"},
        {ZeroRule::on_return, "on_return", "written whenever a block comes back"},
        {ZeroRule::fresh, "fresh", "never written: who asks for zeros gets fresh memory"},
    }};
    return table;
}

namespace {

constexpr std::uint64_t step_bytes = 16;

void add_doublings(std::vector<std::uint64_t>& sizes, std::uint64_t first, std::uint64_t last)
{
    for (std::uint64_t bytes = first; bytes <= last && bytes != 0; bytes *= 2) {
        sizes.push_back(bytes);
    }
}

// Multiples of 16 bytes: what alignment gives away anyway.
void add_quarters(std::vector<std::uint64_t>& sizes, std::uint64_t largest)
{
    for (std::uint64_t base = 64; sizes.empty() || sizes.back() < largest; base *= 2) {
        if (base == 64) {
            sizes.insert(sizes.end(), {16, 32, 48, 64});
        }
        for (std::uint64_t quarter = 1; quarter <= 4; ++quarter) {
            sizes.push_back(base + quarter * base / 4);
        }
    }
}

void add_geometric(std::vector<std::uint64_t>& sizes, double factor, std::uint64_t largest)
{
    for (double exact = static_cast<double>(step_bytes); sizes.empty() || sizes.back() < largest; exact *= factor) {
        const std::uint64_t bytes = (static_cast<std::uint64_t>(exact) + step_bytes - 1) / step_bytes * step_bytes;
        if (sizes.empty() || bytes > sizes.back()) {
            sizes.push_back(bytes);
        }
    }
}

}  // namespace

std::vector<std::uint64_t> class_sizes(ClassScheme scheme, double factor, std::uint64_t largest)
{
    std::vector<std::uint64_t> sizes;
    switch (scheme) {
    case ClassScheme::quad:
        add_quarters(sizes, largest);
        break;
    case ClassScheme::pow2:
        add_doublings(sizes, step_bytes, std::bit_ceil(largest));
        break;
    case ClassScheme::geometric:
        add_geometric(sizes, factor, largest);
        break;
    case ClassScheme::dotcompute_guide:
        add_doublings(sizes, std::uint64_t{4} << 10U, std::uint64_t{512} << 20U);
        break;
    case ClassScheme::dotcompute_arch:
        add_doublings(sizes, std::uint64_t{1} << 10U, std::uint64_t{1} << 30U);
        break;
    case ClassScheme::dotcompute_code:
        add_doublings(sizes, std::uint64_t{256}, std::uint64_t{256} << 20U);
        break;
    case ClassScheme::exact:
        break;
    }
    return sizes;
}

std::uint64_t served_bytes(const PoolSpec& pool, std::uint64_t bytes)
{
    if (pool.kind != PoolKind::classes || bytes < pool.smallest || bytes > pool.largest) {
        return bytes;
    }
    const std::vector<std::uint64_t> sizes = class_sizes(pool.classes, pool.factor, pool.largest);
    const auto found = std::ranges::lower_bound(sizes, bytes);
    return found == sizes.end() ? bytes : *found;
}

}  // namespace memsweep::model
