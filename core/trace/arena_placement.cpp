// First fit, best fit and TLSF in one arena that grows at its upper end. The range above the highest block is used only
// where no hole below it fits, so that what these policies do does not depend on how large the arena may become, and
// the highest end is the smallest capacity.
#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "core/trace/holes.hpp"
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
        const std::uint64_t step = size < parts ? 1 : 1ULL << (std::bit_width(size) - 1 - parts_log2);
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

    static unsigned bin_of(std::uint64_t size)
    {
        if (size < parts) {
            return static_cast<unsigned>(size);
        }
        const auto level = static_cast<unsigned>(std::bit_width(size)) - 1;
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
