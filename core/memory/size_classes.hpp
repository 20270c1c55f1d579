// The size classes of a pool. Finds the smallest class whose blocks are large enough for a request.
//
// Units    bytes.
// Cost     a bit scan and two table look-ups. With ClassScheme::exact: a hash look-up.
// Memory   a few KiB of tables.
// Threads  any. With ClassScheme::exact, the first request for a size makes this size a class, which is never removed.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <vector>

#include "core/model/pool_spec.hpp"

namespace memsweep::memory {

class SizeClasses {
  public:
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    static constexpr std::uint32_t max_exact = 1024;

    explicit SizeClasses(const model::PoolSpec& spec)
        : exact_{spec.classes == model::ClassScheme::exact},
          clamps_{spec.classes == model::ClassScheme::dotcompute_code}, smallest_{spec.smallest},
          sizes_{model::class_sizes(spec.classes, spec.factor, spec.largest)}
    {
        std::uint64_t largest = spec.largest;
        if (exact_) {
            count_ = max_exact;
            exact_sizes_ = std::vector<std::atomic<std::uint64_t>>(max_exact);
        } else {
            // The class that holds the largest request is the last one needed.
            const auto end = std::ranges::lower_bound(sizes_, largest);
            sizes_.erase(end == sizes_.end() ? end : end + 1, sizes_.end());
            largest = std::min(largest, sizes_.back());
            count_ = static_cast<std::uint32_t>(sizes_.size());
            std::uint32_t index = 0;
            for (std::uint32_t bucket = 0; bucket < buckets && index < count_; ++bucket) {
                // The smallest size for which bucket_of returns this bucket.
                const std::uint32_t width = bucket / 4 + 4;
                const std::uint64_t lowest =
                    width > 64 ? UINT64_MAX : (((4ULL + bucket % 4) << (width - 3)) & ~15ULL) + 1;
                while (index + 1 < count_ && sizes_[index] < lowest) {
                    ++index;
                }
                first_of_bucket_[bucket] = index;
            }
        }
        range_ = largest >= smallest_ ? largest - smallest_ : 0;
    }

    // Returns the largest possible number of classes. Every index of a class is below this number.
    [[nodiscard]] std::uint32_t count() const noexcept { return count_; }

    // Returns the index of the class for `bytes`; `none` if no class serves this size.
    [[nodiscard]] std::uint32_t index_of(std::uint64_t bytes) noexcept
    {
        if (bytes - smallest_ > range_) {  // also true for smaller sizes, because the difference wraps around
            return none;
        }
        return exact_ ? exact_index_of(bytes) : tabled_index_of(bytes);
    }

    // Returns the size of a class. `index`: a result of index_of.
    [[nodiscard]] std::uint64_t bytes_of(std::uint32_t index) const noexcept
    {
        return exact_ ? exact_sizes_[index].load(std::memory_order_relaxed) : sizes_[index];
    }

    // Returns the class from which DotCompute itself would serve a request that is larger than all classes: the last
    // class, although its blocks are too short. Returns `none` for smaller requests, and if the scheme is not
    // ClassScheme::dotcompute_code.
    [[nodiscard]] std::uint32_t oversize_index(std::uint64_t bytes) const noexcept
    {
        return clamps_ && bytes > smallest_ + range_ ? count_ - 1 : none;
    }

  private:
    static constexpr std::uint32_t buckets = 4 * 64;

    // Returns the bucket of a size; there are four buckets per power of two. A bucket contains few classes, so the
    // search within a bucket is short.
    [[nodiscard]] static std::uint32_t bucket_of(std::uint64_t bytes) noexcept
    {
        const std::uint64_t top = (bytes == 0 ? 0 : bytes - 1) | 15U;
        const auto width = static_cast<std::uint32_t>(std::bit_width(top));
        return (width - 4) * 4 + (static_cast<std::uint32_t>(top >> (width - 3)) & 3U);
    }

    [[nodiscard]] std::uint32_t tabled_index_of(std::uint64_t bytes) const noexcept
    {
        std::uint32_t index = first_of_bucket_[bucket_of(bytes)];
        while (sizes_[index] < bytes) {
            ++index;
        }
        return index;
    }
    [[nodiscard]] std::uint32_t exact_index_of(std::uint64_t bytes) noexcept
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

    bool exact_;
    bool clamps_;
    std::uint64_t smallest_;
    std::uint64_t range_{};
    std::uint32_t count_{};
    std::vector<std::uint64_t> sizes_;
    std::array<std::uint32_t, buckets> first_of_bucket_{};
    std::vector<std::atomic<std::uint64_t>> exact_sizes_;  // by class index, found by hashing a size; 0: no class yet
};

}  // namespace memsweep::memory
