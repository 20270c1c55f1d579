// The blocks and holes of one or more regions of addresses, each knowing its neighbours, so that holes can merge.
//
// Cost     a few ns an operation.
// Memory   32 bytes a block or hole.
#pragma once

#include <cstdint>
#include <vector>

namespace memsweep::trace {

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
        if (unused_.empty()) {
            segments_.push_back(segment);
            return static_cast<std::uint32_t>(segments_.size() - 1);
        }
        const std::uint32_t index = unused_.back();
        unused_.pop_back();
        segments_[index] = segment;
        return index;
    }

    // Cuts a segment to `size`; what is left becomes a segment of its own behind it.
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

    // The segment behind `index` becomes part of it.
    void merge_with_next(std::uint32_t index)
    {
        const std::uint32_t next = segments_[index].after;
        segments_[index].size += segments_[next].size;
        segments_[index].after = segments_[next].after;
        if (segments_[next].after != no_segment) {
            segments_[segments_[next].after].before = index;
        }
        unused_.push_back(next);
    }

    // The last of its region goes.
    void remove_last(std::uint32_t index)
    {
        if (segments_[index].before != no_segment) {
            segments_[segments_[index].before].after = no_segment;
        }
        unused_.push_back(index);
    }

  private:
    std::vector<Segment> segments_;
    std::vector<std::uint32_t> unused_;
};

// Which segment each block lies in.
class BlockSegments {
  public:
    void set(std::uint32_t block, std::uint32_t segment)
    {
        if (block >= segments_.size()) {
            segments_.resize(std::size_t{block} * 2 + 64, no_segment);
        }
        segments_[block] = segment;
    }
    [[nodiscard]] std::uint32_t of(std::uint32_t block) const { return segments_[block]; }

  private:
    std::vector<std::uint32_t> segments_;
};

[[nodiscard]] constexpr std::uint64_t rounded_up(std::uint64_t size, std::uint64_t unit)
{
    const std::uint64_t most = ~0ULL / unit * unit;
    return size > most ? most : (size + unit - 1) / unit * unit;
}

}  // namespace memsweep::trace
