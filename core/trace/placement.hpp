// Simulates where a policy puts blocks in an arena (a range of addresses). The simulation computes addresses and sizes,
// and allocates no memory for the blocks.
//
// Units    bytes.
// Cost     10 to 200 ns per operation.
// Threads  one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/trace/live_blocks.hpp"

namespace memsweep::trace {

inline constexpr std::uint64_t unbounded = std::numeric_limits<std::uint64_t>::max();

class Placement {
  public:
    Placement() = default;
    Placement(const Placement&) = delete;
    Placement& operator=(const Placement&) = delete;
    virtual ~Placement() = default;

    // Places a block, or returns false if the block does not fit into the capacity. Blocks are numbered from 0. After
    // release(), the number may be used for another block.
    [[nodiscard]] virtual bool place(std::uint32_t block, std::uint64_t size) = 0;
    virtual void release(std::uint32_t block) = 0;

    // A block's address, and its size after rounding up.
    struct Extent {
        std::uint64_t address{};
        std::uint64_t size{};
    };
    [[nodiscard]] virtual Extent place_of(std::uint32_t block) const = 0;

    // Returns the capacity that the placements so far have needed: depending on the policy, the highest end of a block,
    // or the most bytes that were reserved.
    [[nodiscard]] virtual std::uint64_t needed() const = 0;
    // last_growth() returns the state directly before the placement that last increased needed(), or nullopt if the
    // policy does not keep this state. If a policy's places do not depend on the capacity, the policy would fail at
    // exactly this placement in any arena that is smaller than needed(). So the smallest sufficient capacity is known
    // without a search.
    struct Growth {
        std::uint64_t largest_hole{};
        std::uint64_t end{};  // the highest end of a block; in a smaller arena the space above it is a hole
    };
    [[nodiscard]] virtual std::optional<Growth> last_growth() const { return std::nullopt; }

    // Returns the size of the largest free range below needed() in which a block could be placed.
    [[nodiscard]] virtual std::uint64_t largest_hole() const = 0;
};

struct PlacementPolicy {
    std::string_view name;
    std::string_view help;
    bool depends_on_capacity{};  // places depend on the capacity, so a search must find the smallest sufficient one
    std::unique_ptr<Placement> (*make)(std::uint64_t capacity, std::uint64_t alignment);
};

// placement_policies() returns all policies, in the order in which reports show them. hole_policies() and
// class_policies() each return the policies that one source file defines.
[[nodiscard]] std::span<const PlacementPolicy> placement_policies();
[[nodiscard]] std::span<const PlacementPolicy> hole_policies();
[[nodiscard]] std::span<const PlacementPolicy> class_policies();

template <typename Policy>
std::unique_ptr<Placement> make_placement(std::uint64_t capacity, std::uint64_t alignment)
{
    return std::make_unique<Policy>(capacity, alignment);
}

// The rest of this file has the blocks and holes of simulated arenas. A segment is a block or a hole. It knows its
// neighbours, so that neighbouring holes can be merged. A HoleIndex keeps the holes in the order in which a policy
// searches them.
//
// Cost     segments: a few ns per operation. Holes: adding or removing a hole moves O(sqrt n) entries in memory, which
//          takes 50 to 150 ns at 100,000 holes. A search by size takes O(log n).
// Memory   32 bytes per block and 56 bytes per hole.
// Threads  one.

inline constexpr std::uint32_t no_segment = ~0U;

struct Segment {
    std::uint64_t address{};
    std::uint64_t size{};
    std::uint32_t before{no_segment};  // the neighbour at lower addresses, in the same region
    std::uint32_t after{no_segment};
    bool is_hole{};
};

class Segments {
  public:
    [[nodiscard]] Segment& operator[](std::uint32_t index) { return segments_[index]; }
    [[nodiscard]] const Segment& operator[](std::uint32_t index) const { return segments_[index]; }

    std::uint32_t add(const Segment& segment)
    {
        const std::uint32_t index = numbers_.take();
        if (index == segments_.size()) {
            segments_.emplace_back();
        }
        segments_[index] = segment;
        return index;
    }

    // Shortens a segment to `size` bytes. The rest becomes a new segment behind it. Returns the index of the new
    // segment.
    std::uint32_t split(std::uint32_t index, std::uint64_t size)
    {
        const Segment whole = segments_[index];
        const std::uint32_t rest = add({.address = whole.address + size,
                                        .size = whole.size - size,
                                        .before = index,
                                        .after = whole.after,
                                        .is_hole = whole.is_hole});
        segments_[index].size = size;
        segments_[index].after = rest;
        if (whole.after != no_segment) {
            segments_[whole.after].before = rest;
        }
        return rest;
    }

    // Merges segment number `index` with the segment behind it, whose index becomes free.
    void merge_with_next(std::uint32_t index)
    {
        const std::uint32_t next = segments_[index].after;
        segments_[index].size += segments_[next].size;
        segments_[index].after = segments_[next].after;
        if (segments_[next].after != no_segment) {
            segments_[segments_[next].after].before = index;
        }
        numbers_.give_back(next);
    }

    // Removes a segment that is the last of its region.
    void remove_last(std::uint32_t index)
    {
        if (segments_[index].before != no_segment) {
            segments_[segments_[index].before].after = no_segment;
        }
        numbers_.give_back(index);
    }

  private:
    std::vector<Segment> segments_;
    RecycledNumbers numbers_;
};

// A value that a policy keeps for each block.
template <typename Value>
class PerBlock {
  public:
    void set(std::uint32_t block, Value value)
    {
        if (block >= values_.size()) {
            values_.resize(std::size_t{block} * 2 + 64);
        }
        values_[block] = value;
    }
    [[nodiscard]] Value of(std::uint32_t block) const { return values_[block]; }

  private:
    std::vector<Value> values_;
};

// Rounds `size` up to a multiple of `unit`. If this multiple does not fit into 64 bits, returns the largest multiple
// that fits.
[[nodiscard]] constexpr std::uint64_t rounded_up(std::uint64_t size, std::uint64_t unit)
{
    return size > ~0ULL - (unit - 1) ? ~0ULL / unit * unit : (size + unit - 1) / unit * unit;
}

struct Hole {
    std::uint64_t address{};
    std::uint64_t size{};
    std::uint32_t segment{};
};

struct ByAddress {
    static constexpr bool sizes_ascend = false;
    static auto key(const Hole& hole) { return std::pair{hole.address, std::uint64_t{0}}; }
};
struct BySize {
    static constexpr bool sizes_ascend = true;
    static auto key(const Hole& hole) { return std::pair{hole.size, hole.address}; }
};

// A sorted list of holes, stored in pieces of fewer than max_holes holes each. Each piece knows the size of its largest
// hole. If the holes are not sorted by size, group_pieces pieces form a group, and each group knows the size of its
// largest hole, too.
template <typename Order>
class HoleIndex {
  public:
    void insert(const Hole& hole)
    {
        if (pieces_.empty()) {
            pieces_.push_back({Order::key(hole), hole.size, {hole}});
            pieces_.back().holes.reserve(max_holes);
            settle_groups(0);
            return;
        }
        const std::size_t at = piece_of(hole);
        Piece& piece = pieces_[at];
        piece.holes.insert(std::ranges::upper_bound(piece.holes, Order::key(hole), {}, Order::key), hole);
        piece.first = std::min(piece.first, Order::key(hole));
        raise_largest(at, hole.size);
        if (piece.holes.size() == max_holes) {
            split(at);
        }
    }

    void remove(const Hole& hole)
    {
        const std::size_t at = piece_of(hole);
        Piece& piece = pieces_[at];
        piece.holes.erase(std::ranges::lower_bound(piece.holes, Order::key(hole), {}, Order::key));
        if (piece.holes.empty()) {
            pieces_.erase(pieces_.begin() + static_cast<std::ptrdiff_t>(at));
            settle_groups(at);
            return;
        }
        piece.first = Order::key(piece.holes.front());
        if (hole.size == piece.largest) {
            lower_largest(at);
        }
    }

    // Replaces `hole` by `by`. Call when the hole has shrunk, or has grown by a neighbour's addresses. In an index by
    // address, `by` takes the position of `hole`.
    void replace(const Hole& hole, const Hole& by)
    {
        if constexpr (Order::sizes_ascend) {
            remove(hole);
            insert(by);
        } else {
            const std::size_t at = piece_of(hole);
            Piece& piece = pieces_[at];
            *std::ranges::lower_bound(piece.holes, Order::key(hole), {}, Order::key) = by;
            piece.first = Order::key(piece.holes.front());
            if (by.size >= piece.largest) {
                raise_largest(at, by.size);
            } else if (hole.size == piece.largest) {
                lower_largest(at);
            }
        }
    }

    // Returns the first hole, in the order of this index, that has at least `size` bytes, or null if there is none.
    [[nodiscard]] const Hole* first_fit(std::uint64_t size) const
    {
        if constexpr (Order::sizes_ascend) {
            const auto piece = std::ranges::lower_bound(pieces_, size, {}, &Piece::largest);
            return piece == pieces_.end() ? nullptr : &*std::ranges::lower_bound(piece->holes, size, {}, &Hole::size);
        } else {
            const auto group = std::ranges::find_if(groups_, [size](std::uint64_t largest) { return largest >= size; });
            if (group == groups_.end()) {
                return nullptr;
            }
            auto piece = pieces_.begin() + (group - groups_.begin()) * static_cast<std::ptrdiff_t>(group_pieces);
            while (piece->largest < size) {
                ++piece;
            }
            return &*std::ranges::find_if(piece->holes, [size](const Hole& hole) { return hole.size >= size; });
        }
    }

    [[nodiscard]] std::uint64_t largest() const
    {
        if constexpr (Order::sizes_ascend) {
            return pieces_.empty() ? 0 : pieces_.back().largest;
        } else {
            return groups_.empty() ? 0 : *std::ranges::max_element(groups_);
        }
    }

  private:
    static constexpr std::size_t max_holes = 64;
    static constexpr std::size_t group_pieces = 16;

    struct Piece {
        std::pair<std::uint64_t, std::uint64_t> first;  // key of the first hole
        std::uint64_t largest{};
        std::vector<Hole> holes;
    };

    static std::uint64_t largest_of(const Piece& piece)
    {
        if constexpr (Order::sizes_ascend) {
            return piece.holes.back().size;
        } else {
            return std::ranges::max_element(piece.holes, {}, &Hole::size)->size;
        }
    }
    // Returns the index of the last piece that begins at or before `hole`; 0 if none does.
    [[nodiscard]] std::size_t piece_of(const Hole& hole) const
    {
        const auto after = std::ranges::upper_bound(pieces_, Order::key(hole), {}, &Piece::first);
        return after == pieces_.begin() ? 0 : static_cast<std::size_t>(after - pieces_.begin()) - 1;
    }
    void raise_largest(std::size_t at, std::uint64_t size)
    {
        pieces_[at].largest = std::max(pieces_[at].largest, size);
        if constexpr (!Order::sizes_ascend) {
            groups_[at / group_pieces] = std::max(groups_[at / group_pieces], size);
        }
    }
    // Call when the piece's largest hole has been removed or has shrunk.
    void lower_largest(std::size_t at)
    {
        const std::uint64_t before = pieces_[at].largest;
        pieces_[at].largest = largest_of(pieces_[at]);
        if constexpr (!Order::sizes_ascend) {
            if (groups_[at / group_pieces] == before) {
                settle_group(at / group_pieces);
            }
        }
    }
    void settle_group(std::size_t group)
    {
        const std::size_t end = std::min(pieces_.size(), (group + 1) * group_pieces);
        groups_[group] = 0;
        for (std::size_t at = group * group_pieces; at < end; ++at) {
            groups_[group] = std::max(groups_[group], pieces_[at].largest);
        }
    }
    // Computes the largest holes of groups again. Call it when the pieces from index `at` on have moved.
    void settle_groups(std::size_t at)
    {
        if constexpr (!Order::sizes_ascend) {
            groups_.resize((pieces_.size() + group_pieces - 1) / group_pieces);
            for (std::size_t group = at / group_pieces; group < groups_.size(); ++group) {
                settle_group(group);
            }
        }
    }
    void split(std::size_t at)
    {
        Piece above;
        Piece& below = pieces_[at];
        const auto middle = below.holes.begin() + max_holes / 2;
        above.holes.reserve(max_holes);
        above.holes.assign(middle, below.holes.end());
        above.first = Order::key(above.holes.front());
        below.holes.erase(middle, below.holes.end());
        below.largest = largest_of(below);
        above.largest = largest_of(above);
        pieces_.insert(pieces_.begin() + static_cast<std::ptrdiff_t>(at) + 1, std::move(above));
        settle_groups(at);
    }

    std::vector<Piece> pieces_;
    std::vector<std::uint64_t> groups_;
};

}  // namespace memsweep::trace
