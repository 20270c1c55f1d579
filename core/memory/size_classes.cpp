#include "core/memory/size_classes.hpp"

#include <algorithm>

#include "core/memory/alignment.hpp"

namespace memsweep::memory {
namespace {

using model::ClassScheme;

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
        const std::uint64_t bytes = round_up(static_cast<std::uint64_t>(exact), step_bytes);
        if (sizes.empty() || bytes > sizes.back()) {
            sizes.push_back(bytes);
        }
    }
}

}  // namespace

std::vector<std::uint64_t> SizeClasses::sizes_of(ClassScheme scheme, double factor, std::uint64_t largest)
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

SizeClasses::SizeClasses(const model::PoolSpec& spec)
    : exact_{spec.classes == ClassScheme::exact}, clamps_{spec.classes == ClassScheme::dotcompute_code},
      smallest_{spec.smallest}, sizes_{sizes_of(spec.classes, spec.factor, spec.largest)}
{
    std::uint64_t largest = spec.largest;
    if (exact_) {
        count_ = most_exact;
        exact_sizes_ = std::vector<std::atomic<std::uint64_t>>(most_exact);
    } else {
        // The class that holds the largest request is the last that can be asked for.
        const auto end = std::ranges::lower_bound(sizes_, largest);
        sizes_.erase(end == sizes_.end() ? end : end + 1, sizes_.end());
        largest = std::min(largest, sizes_.back());
        count_ = static_cast<std::uint32_t>(sizes_.size());
        std::uint32_t index = 0;
        for (std::uint32_t bucket = 0; bucket < buckets && index < count_; ++bucket) {
            // The smallest size that falls into the bucket, as bucket_of computes it.
            const std::uint32_t width = bucket / 4 + 4;
            const std::uint64_t lowest = width > 64 ? UINT64_MAX : (((4ULL + bucket % 4) << (width - 3)) & ~15ULL) + 1;
            while (index + 1 < count_ && sizes_[index] < lowest) {
                ++index;
            }
            first_of_bucket_[bucket] = index;
        }
    }
    range_ = largest >= smallest_ ? largest - smallest_ : 0;
}

std::uint32_t SizeClasses::exact_index_of(std::uint64_t bytes) noexcept
{
    constexpr std::uint64_t golden = 0x9E37'79B9'7F4A'7C15;
    auto place = static_cast<std::uint32_t>((bytes * golden) >> 54U);
    for (std::uint32_t probes = 0; probes < most_exact; ++probes) {
        std::uint64_t found = exact_sizes_[place].load(std::memory_order_relaxed);
        if (found == bytes) {
            return place;
        }
        if (found == 0 && exact_sizes_[place].compare_exchange_strong(found, bytes, std::memory_order_relaxed)) {
            return place;
        }
        if (found == bytes) {
            return place;
        }
        place = (place + 1) % most_exact;
    }
    return none;
}

}  // namespace memsweep::memory
