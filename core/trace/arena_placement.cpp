// First fit, best fit and TLSF in one arena that grows at its upper end. The range above the highest block is used only
// where no hole below it fits, so that what these policies do does not depend on how large the arena may become, and
// the highest end is the smallest capacity.
#include <algorithm>

#include "core/trace/hole_index.hpp"
#include "core/trace/placement.hpp"
#include "core/trace/segments.hpp"
#include "core/trace/tlsf_index.hpp"

namespace memsweep::trace {
namespace {

template <typename Index>
class ArenaPlacement final : public Placement {
  public:
    ArenaPlacement(std::uint64_t capacity, std::uint64_t alignment) : capacity_{capacity}, alignment_{alignment} {}

    [[nodiscard]] bool place(std::uint32_t block, std::uint64_t size) override
    {
        const std::uint64_t bytes = rounded_up(std::max<std::uint64_t>(size, 1), alignment_);
        if (const Hole* found = holes_.first_fit(bytes)) {
            const Hole hole = *found;
            segments_[hole.segment].is_hole = false;
            if (hole.size > bytes) {
                const std::uint32_t rest = segments_.split(hole.segment, bytes);
                segments_[rest].is_hole = true;
                holes_.replace(hole, hole_of(rest));
            } else {
                holes_.remove(hole);
            }
            blocks_.set(block, hole.segment);
            return true;
        }
        if (bytes > capacity_ || end_ > capacity_ - bytes) {
            return false;
        }
        const std::uint32_t added = segments_.add({.address = end_, .size = bytes, .before = last_});
        if (last_ != no_segment) {
            segments_[last_].after = added;
        }
        last_ = added;
        if (end_ + bytes > needed_) {
            growth_ = Growth{holes_.largest(), end_};
            needed_ = end_ + bytes;
        }
        end_ += bytes;
        blocks_.set(block, added);
        return true;
    }

    void release(std::uint32_t block) override
    {
        std::uint32_t segment = blocks_.of(block);
        segments_[segment].is_hole = true;
        std::optional<Hole> known;  // a neighbour, in the index
        if (const std::uint32_t after = segments_[segment].after; after != no_segment && segments_[after].is_hole) {
            known = hole_of(after);
            segments_.merge_with_next(segment);
        }
        if (const std::uint32_t before = segments_[segment].before; before != no_segment && segments_[before].is_hole) {
            if (known) {
                holes_.remove(*known);
            }
            known = hole_of(before);
            segments_.merge_with_next(before);
            segment = before;
        }
        if (segments_[segment].after == no_segment) {  // the highest: it joins the unused range above
            if (known) {
                holes_.remove(*known);
            }
            end_ = segments_[segment].address;
            last_ = segments_[segment].before;
            segments_.remove_last(segment);
        } else if (known) {
            holes_.replace(*known, hole_of(segment));
        } else {
            holes_.insert(hole_of(segment));
        }
    }

    [[nodiscard]] std::optional<Range> place_of(std::uint32_t block) const override
    {
        const Segment& segment = segments_[blocks_.of(block)];
        return Range{segment.address, segment.size};
    }
    [[nodiscard]] std::uint64_t needed() const override { return needed_; }
    [[nodiscard]] std::optional<Growth> last_growth() const override { return growth_; }
    [[nodiscard]] std::uint64_t largest_hole() const override
    {
        const std::uint64_t above = capacity_ == unbounded ? needed_ - end_ : capacity_ - end_;
        return std::max(holes_.largest(), above);
    }

  private:
    [[nodiscard]] Hole hole_of(std::uint32_t segment) const
    {
        return {segments_[segment].address, segments_[segment].size, segment};
    }

    std::uint64_t capacity_;
    std::uint64_t alignment_;
    Segments segments_;
    BlockSegments blocks_;
    Index holes_;
    std::uint32_t last_{no_segment};
    std::uint64_t end_{};
    std::uint64_t needed_{};
    std::optional<Growth> growth_;
};

}  // namespace

std::unique_ptr<Placement> make_first_fit(std::uint64_t capacity, std::uint64_t alignment)
{
    return std::make_unique<ArenaPlacement<HoleIndex<ByAddress>>>(capacity, alignment);
}

std::unique_ptr<Placement> make_best_fit(std::uint64_t capacity, std::uint64_t alignment)
{
    return std::make_unique<ArenaPlacement<HoleIndex<BySize>>>(capacity, alignment);
}

std::unique_ptr<Placement> make_tlsf(std::uint64_t capacity, std::uint64_t alignment)
{
    return std::make_unique<ArenaPlacement<TlsfIndex>>(capacity, alignment);
}

}  // namespace memsweep::trace
