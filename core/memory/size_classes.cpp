#include "core/memory/size_classes.hpp"

#include <algorithm>

#include "core/model/pool_spec.hpp"

namespace memsweep::memory {

using model::ClassScheme;

SizeClasses::SizeClasses(const model::PoolSpec& spec)
    : exact_{spec.classes == ClassScheme::exact}, clamps_{spec.classes == ClassScheme::dotcompute_code},
      smallest_{spec.smallest}, sizes_{model::class_sizes(spec.classes, spec.factor, spec.largest)}
{
    std::uint64_t largest = spec.largest;
    if (exact_) {
        count_ = max_exact;
        exact_sizes_ = std::vector<std::atomic<std::uint64_t>>(max_exact);
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
    for (std::uint32_t probes = 0; probes < max_exact; ++probes) {
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
        place = (place + 1) % max_exact;
    }
    return none;
}

}  // namespace memsweep::memory
