#include "core/model/pool_spec.hpp"

#include <algorithm>
#include <bit>

namespace memsweep::model {

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
