// Policies that place blocks in holes. First fit, best fit and TLSF work in one arena that grows at its upper end.
// RMM's and PyTorch's pools take regions from a device and place blocks in them by best fit.
#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "core/trace/placement.hpp"

namespace memsweep::trace {
namespace {

// Holes in the bins of a two-level segregated fit: powers of two, each in 32 parts; the last hole freed comes first. An
// operation takes 10 ns whatever the number of holes, and a segment 16 bytes.
//
// Sources  Masmano, Ripoll, Crespo, Real: "TLSF: a new dynamic memory allocator for real-time systems", ECRTS 2004.
class TlsfIndex {
  public:
    TlsfIndex() { heads_.fill(no_segment); }

    void insert(const Hole& hole)
    {
        if (hole.segment >= links_.size()) {
            links_.resize(std::size_t{hole.segment} * 2 + 64);
        }
        const unsigned bin = bin_of(hole.size);
        links_[hole.segment] = {hole, no_segment, heads_[bin]};
        if (heads_[bin] != no_segment) {
            links_[heads_[bin]].previous = hole.segment;
        }
        heads_[bin] = hole.segment;
        used_[bin / 64] |= 1ULL << (bin % 64);
    }

    void remove(const Hole& hole)
    {
        const unsigned bin = bin_of(hole.size);
        const Link& link = links_[hole.segment];
        (link.previous == no_segment ? heads_[bin] : links_[link.previous].next) = link.next;
        if (link.next != no_segment) {
            links_[link.next].previous = link.previous;
        }
        if (heads_[bin] == no_segment) {
            used_[bin / 64] &= ~(1ULL << (bin % 64));
        }
    }

    void replace(const Hole& hole, const Hole& by)
    {
        remove(hole);
        insert(by);
    }

    // From the first bin all of whose holes are large enough.
    [[nodiscard]] const Hole* first_fit(std::uint64_t size) const
    {
        const std::uint64_t step = size < parts ? 1 : 1ULL << (level_of(size) - parts_log2);
        if (size > ~0ULL - step) {
            return nullptr;
        }
        return head_from(bin_of(size + step - 1));
    }

    [[nodiscard]] std::uint64_t largest() const
    {
        std::uint64_t largest = 0;
        for (std::size_t word = used_.size(); word-- > 0;) {
            if (used_[word] == 0) {
                continue;
            }
            const std::size_t bin = word * 64 + static_cast<std::size_t>(std::bit_width(used_[word])) - 1;
            for (std::uint32_t at = heads_[bin]; at != no_segment; at = links_[at].next) {
                largest = std::max(largest, links_[at].hole.size);
            }
            break;
        }
        return largest;
    }

  private:
    static constexpr unsigned parts_log2 = 5;
    static constexpr unsigned parts = 1U << parts_log2;
    static constexpr unsigned bins = 64 * parts;

    struct Link {
        Hole hole;
        std::uint32_t previous{no_segment};
        std::uint32_t next{no_segment};
    };

    // The power of two at or below the size.
    static unsigned level_of(std::uint64_t size) { return static_cast<unsigned>(std::bit_width(size)) - 1; }
    static unsigned bin_of(std::uint64_t size)
    {
        if (size < parts) {
            return static_cast<unsigned>(size);
        }
        const unsigned level = level_of(size);
        return (level - parts_log2 + 1) * parts + static_cast<unsigned>((size >> (level - parts_log2)) - parts);
    }
    [[nodiscard]] const Hole* head_from(unsigned bin) const
    {
        std::uint64_t word = used_[bin / 64] & (~0ULL << (bin % 64));
        for (std::size_t at = bin / 64;;) {
            if (word != 0) {
                return &links_[heads_[at * 64 + static_cast<std::size_t>(std::countr_zero(word))]].hole;
            }
            if (++at == used_.size()) {
                return nullptr;
            }
            word = used_[at];
        }
    }

    std::array<std::uint32_t, bins> heads_{};
    std::array<std::uint64_t, bins / 64> used_{};
    std::vector<Link> links_;
};

// Blocks that are cut from holes, and holes that join their neighbours.
template <typename Index>
class BlocksAndHoles {
  public:
    // False where no hole is large enough. What a hole has beyond `bytes` is cut off from `min_rest` on.
    [[nodiscard]] bool place(std::uint32_t block, std::uint64_t bytes, std::uint64_t min_rest)
    {
        const Hole* const found = holes.first_fit(bytes);
        if (found == nullptr) {
            return false;
        }
        const Hole hole = *found;
        segments[hole.segment].is_hole = false;
        if (hole.size - bytes >= min_rest) {
            const std::uint32_t rest = segments.split(hole.segment, bytes);
            segments[rest].is_hole = true;
            holes.replace(hole, hole_of(rest));
        } else {
            holes.remove(hole);
        }
        blocks.set(block, hole.segment);
        return true;
    }

    struct Freed {
        std::uint32_t segment{};
        std::optional<Hole> known;  // a neighbour that became part of it, still in the index
    };
    // The segment of the block, with the holes beside it. It is not in the index yet.
    [[nodiscard]] Freed free(std::uint32_t block)
    {
        Freed freed{blocks.of(block), {}};
        Segment& segment = segments[freed.segment];
        segment.is_hole = true;
        if (segment.after != no_segment && segments[segment.after].is_hole) {
            freed.known = hole_of(segment.after);
            segments.merge_with_next(freed.segment);
        }
        if (segment.before != no_segment && segments[segment.before].is_hole) {
            forget(freed);
            freed = {segment.before, hole_of(segment.before)};
            segments.merge_with_next(freed.segment);
        }
        return freed;
    }
    void add_hole(const Freed& freed)
    {
        if (freed.known) {
            holes.replace(*freed.known, hole_of(freed.segment));
        } else {
            holes.insert(hole_of(freed.segment));
        }
    }
    void forget(const Freed& freed)
    {
        if (freed.known) {
            holes.remove(*freed.known);
        }
    }
    [[nodiscard]] Placement::Extent place_of(std::uint32_t block) const
    {
        const Segment& segment = segments[blocks.of(block)];
        return {segment.address, segment.size};
    }

    Segments segments;
    PerBlock<std::uint32_t> blocks;  // the segment that each block lies in
    Index holes;

  private:
    [[nodiscard]] Hole hole_of(std::uint32_t segment) const
    {
        return {segments[segment].address, segments[segment].size, segment};
    }
};

// The range above the highest block is used only where no hole below it fits, so that what these policies do does not
// depend on how large the arena may become, and the highest end is the smallest capacity.
template <typename Index>
class ArenaPlacement final : public Placement {
  public:
    ArenaPlacement(std::uint64_t capacity, std::uint64_t alignment) : capacity_{capacity}, alignment_{alignment} {}

    [[nodiscard]] bool place(std::uint32_t block, std::uint64_t size) override
    {
        const std::uint64_t bytes = rounded_up(std::max<std::uint64_t>(size, 1), alignment_);
        if (arena_.place(block, bytes, 1)) {
            return true;
        }
        if (bytes > capacity_ || end_ > capacity_ - bytes) {
            return false;
        }
        const std::uint32_t added = arena_.segments.add({.address = end_, .size = bytes, .before = last_});
        if (last_ != no_segment) {
            arena_.segments[last_].after = added;
        }
        last_ = added;
        if (end_ + bytes > needed_) {
            growth_ = Growth{arena_.holes.largest(), end_};
            needed_ = end_ + bytes;
        }
        end_ += bytes;
        arena_.blocks.set(block, added);
        return true;
    }

    void release(std::uint32_t block) override
    {
        const auto freed = arena_.free(block);
        const Segment segment = arena_.segments[freed.segment];
        if (segment.after != no_segment) {
            arena_.add_hole(freed);
            return;
        }
        arena_.forget(freed);  // the highest: it joins the unused range above
        end_ = segment.address;
        last_ = segment.before;
        arena_.segments.remove_last(freed.segment);
    }

    [[nodiscard]] Extent place_of(std::uint32_t block) const override { return arena_.place_of(block); }
    [[nodiscard]] std::uint64_t needed() const override { return needed_; }
    [[nodiscard]] std::optional<Growth> last_growth() const override { return growth_; }
    [[nodiscard]] std::uint64_t largest_hole() const override
    {
        const std::uint64_t above = capacity_ == unbounded ? needed_ - end_ : capacity_ - end_;
        return std::max(arena_.holes.largest(), above);
    }

  private:
    std::uint64_t capacity_;
    std::uint64_t alignment_;
    BlocksAndHoles<Index> arena_;
    std::uint32_t last_{no_segment};
    std::uint64_t end_{};
    std::uint64_t needed_{};
    std::optional<Growth> growth_;
};

// The regions of one pool are never given back. Holes merge within their region only.
class RegionPool {
  public:
    void add_region(std::uint64_t address, std::uint64_t size)
    {
        const std::uint32_t region = regions_.segments.add({.address = address, .size = size, .is_hole = true});
        regions_.add_hole({region, {}});
    }
    [[nodiscard]] bool place(std::uint32_t block, std::uint64_t bytes, std::uint64_t min_rest)
    {
        return regions_.place(block, bytes, min_rest);
    }
    void release(std::uint32_t block) { regions_.add_hole(regions_.free(block)); }
    [[nodiscard]] Placement::Extent place_of(std::uint32_t block) const { return regions_.place_of(block); }
    [[nodiscard]] std::uint64_t largest_hole() const { return regions_.holes.largest(); }

  private:
    BlocksAndHoles<HoleIndex<BySize>> regions_;
};

// RMM's pool_memory_resource without an initial size: it grows by half of what is left, or by what a block needs.
class RmmPool final : public Placement {
  public:
    RmmPool(std::uint64_t capacity, std::uint64_t /*alignment*/) : capacity_{capacity / unit * unit} {}

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
        pool_.add_region(reserved_, growth);
        reserved_ += growth;
        return pool_.place(block, bytes, unit);
    }
    void release(std::uint32_t block) override { pool_.release(block); }
    [[nodiscard]] Extent place_of(std::uint32_t block) const override { return pool_.place_of(block); }
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
    PyTorchPools(std::uint64_t capacity, std::uint64_t /*alignment*/) : capacity_{capacity} {}

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
            pool.add_region(reserved_, region);
            reserved_ += region;
            static_cast<void>(pool.place(block, bytes, min_rest));
        }
        is_small_.set(block, is_small);
        return true;
    }
    void release(std::uint32_t block) override { pools_[is_small_.of(block) ? 0 : 1].release(block); }
    [[nodiscard]] Extent place_of(std::uint32_t block) const override
    {
        return pools_[is_small_.of(block) ? 0 : 1].place_of(block);
    }
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
    PerBlock<bool> is_small_;
    std::uint64_t reserved_{};
    std::optional<Growth> growth_;
};

}  // namespace

std::span<const PlacementPolicy> hole_policies()
{
    static constexpr std::array policies{
        PlacementPolicy{"first_fit", "the lowest hole that fits", false,
                        make_placement<ArenaPlacement<HoleIndex<ByAddress>>>},
        PlacementPolicy{"best_fit", "the smallest hole that fits, of equal ones the lowest", false,
                        make_placement<ArenaPlacement<HoleIndex<BySize>>>},
        PlacementPolicy{"tlsf", "two-level segregated fit", false, make_placement<ArenaPlacement<TlsfIndex>>},
        PlacementPolicy{"rmm_pool", "RMM's pool: best fit, growth by half of what is left, 256 bytes", true,
                        make_placement<RmmPool>},
        PlacementPolicy{"pytorch", "PyTorch's caching allocator, segments of 2 and 20 MiB, kept", false,
                        make_placement<PyTorchPools>},
    };
    return policies;
}

}  // namespace memsweep::trace
