// Pools that take regions from a device and place blocks in them by best fit: RMM's and PyTorch's. Regions are never
// given back, and holes merge within their region only.
#include <algorithm>
#include <array>

#include "core/trace/holes.hpp"
#include "core/trace/placement.hpp"

namespace memsweep::trace {
namespace {

// Best fit in the regions of one pool. Regions lie apart, so that their holes have no neighbours in common.
class RegionPool {
  public:
    void add_region(std::uint64_t size)
    {
        const std::uint32_t region = segments_.add({.address = next_address_, .size = size, .is_hole = true});
        holes_.insert({next_address_, size, region});
        next_address_ += size + 1;
    }

    // False where no hole is large enough. What a hole has beyond `bytes` is cut off from `min_rest` on.
    [[nodiscard]] bool place(std::uint32_t block, std::uint64_t bytes, std::uint64_t min_rest)
    {
        const Hole* const found = holes_.first_fit(bytes);
        if (found == nullptr) {
            return false;
        }
        const Hole hole = *found;
        holes_.remove(hole);
        segments_[hole.segment].is_hole = false;
        if (hole.size - bytes >= min_rest) {
            const std::uint32_t rest = segments_.split(hole.segment, bytes);
            segments_[rest].is_hole = true;
            holes_.insert({segments_[rest].address, segments_[rest].size, rest});
        }
        blocks_.set(block, hole.segment);
        return true;
    }

    void release(std::uint32_t block)
    {
        std::uint32_t segment = blocks_.of(block);
        segments_[segment].is_hole = true;
        if (const std::uint32_t after = segments_[segment].after; after != no_segment && segments_[after].is_hole) {
            holes_.remove({segments_[after].address, segments_[after].size, after});
            segments_.merge_with_next(segment);
        }
        if (const std::uint32_t before = segments_[segment].before; before != no_segment && segments_[before].is_hole) {
            holes_.remove({segments_[before].address, segments_[before].size, before});
            segments_.merge_with_next(before);
            segment = before;
        }
        holes_.insert({segments_[segment].address, segments_[segment].size, segment});
    }

    [[nodiscard]] std::uint64_t largest_hole() const { return holes_.largest(); }

  private:
    Segments segments_;
    BlockSegments blocks_;
    HoleIndex<BySize> holes_;
    std::uint64_t next_address_{};
};

// RMM's pool_memory_resource without an initial size: it grows by half of what is left, or by what a block needs.
class RmmPool final : public Placement {
  public:
    explicit RmmPool(std::uint64_t capacity) : capacity_{capacity / unit * unit} {}

    [[nodiscard]] bool place(std::uint32_t block, std::uint64_t size) override
    {
        const std::uint64_t bytes = rounded_up(std::max<std::uint64_t>(size, 1), unit);
        if (pool_.place(block, bytes, unit)) {
            return true;
        }
        const std::uint64_t left = capacity_ - reserved_;
        if (bytes > left) {
            return false;
        }
        const std::uint64_t growth = std::max(bytes, left / 2 / unit * unit);
        pool_.add_region(growth);
        reserved_ += growth;
        return pool_.place(block, bytes, unit);
    }
    void release(std::uint32_t block) override { pool_.release(block); }
    [[nodiscard]] std::uint64_t needed() const override { return capacity_; }
    [[nodiscard]] std::uint64_t largest_hole() const override
    {
        return std::max(pool_.largest_hole(), capacity_ - reserved_);
    }

  private:
    static constexpr std::uint64_t unit = 256;
    RegionPool pool_;
    std::uint64_t capacity_;
    std::uint64_t reserved_{};
};

// The defaults of PyTorch's CUDACachingAllocator. Blocks up to 1 MiB come from regions of 2 MiB, up to 10 MiB from
// regions of 20 MiB, larger ones have regions in steps of 2 MiB.
class PyTorchPools final : public Placement {
  public:
    explicit PyTorchPools(std::uint64_t capacity) : capacity_{capacity} {}

    [[nodiscard]] bool place(std::uint32_t block, std::uint64_t size) override
    {
        const std::uint64_t bytes = rounded_up(std::max<std::uint64_t>(size, 1), unit);
        const bool is_small = bytes <= max_small;
        RegionPool& pool = pools_[is_small ? 0 : 1];
        const std::uint64_t min_rest = is_small ? unit : max_small + 1;
        if (!pool.place(block, bytes, min_rest)) {
            const std::uint64_t region = is_small ? step : bytes < large_limit ? large_region : rounded_up(bytes, step);
            if (region > capacity_ || reserved_ > capacity_ - region) {
                return false;
            }
            growth_ = Growth{largest_hole(), reserved_ + region - 1};  // less than a region is no hole
            pool.add_region(region);
            reserved_ += region;
            static_cast<void>(pool.place(block, bytes, min_rest));
        }
        if (block >= is_small_.size()) {
            is_small_.resize(std::size_t{block} * 2 + 64);
        }
        is_small_[block] = is_small;
        return true;
    }
    void release(std::uint32_t block) override { pools_[is_small_[block] ? 0 : 1].release(block); }
    [[nodiscard]] std::uint64_t needed() const override { return reserved_; }
    [[nodiscard]] std::optional<Growth> last_growth() const override { return growth_; }
    [[nodiscard]] std::uint64_t largest_hole() const override
    {
        return std::max(pools_[0].largest_hole(), pools_[1].largest_hole());
    }

  private:
    static constexpr std::uint64_t unit = 512;
    static constexpr std::uint64_t max_small = 1 << 20;
    static constexpr std::uint64_t step = 2 << 20;
    static constexpr std::uint64_t large_limit = 10 << 20;
    static constexpr std::uint64_t large_region = 20 << 20;

    std::uint64_t capacity_;
    std::array<RegionPool, 2> pools_;
    std::vector<bool> is_small_;
    std::uint64_t reserved_{};
    std::optional<Growth> growth_;
};

}  // namespace

std::unique_ptr<Placement> make_rmm_pool(std::uint64_t capacity, std::uint64_t /*alignment*/)
{
    return std::make_unique<RmmPool>(capacity);
}

std::unique_ptr<Placement> make_pytorch(std::uint64_t capacity, std::uint64_t /*alignment*/)
{
    return std::make_unique<PyTorchPools>(capacity);
}

}  // namespace memsweep::trace
