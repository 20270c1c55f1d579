// Searches the lists of a LedgerInput, which are sorted by address and have no overlaps.
//
// Units    addresses of the stopped program.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "core/measure/memory_ledger.hpp"

namespace memsweep::measure {

// Searches a list from its start to its end, so `begin` must not decrease from one call of at() to the next.
template <typename Range>
class Walk {
  public:
    explicit Walk(std::span<const Range> ranges) : rest_{ranges} {}
    // Returns the first range that contains a byte of [begin, end); nullptr if no range does.
    [[nodiscard]] const Range* at(std::uint64_t begin, std::uint64_t end)
    {
        while (!rest_.empty() && rest_.front().end <= begin) {
            rest_ = rest_.subspan(1);
        }
        return !rest_.empty() && rest_.front().begin < end ? &rest_.front() : nullptr;
    }

  private:
    std::span<const Range> rest_;
};

template <typename Range>
bool overlaps(std::span<const Range> ranges, std::uint64_t begin, std::uint64_t end)
{
    const auto at = std::ranges::partition_point(ranges, [&](const Range& one) { return one.end <= begin; });
    return at != ranges.end() && at->begin < end;
}

// block_begin returns the address of a block's header. block_end returns the address after its last usable byte.
[[nodiscard]] inline std::uint64_t block_begin(const HeldBlock& block)
{
    return block.address - std::min<std::uint64_t>(block.address, block.header);
}
[[nodiscard]] inline std::uint64_t block_end(const HeldBlock& block)
{
    return block.address + std::max<std::uint64_t>(block.usable, 1);
}

// Whether any byte of [begin, end) belongs to a block.
[[nodiscard]] inline bool holds_block(std::span<const HeldBlock> blocks, std::uint64_t begin, std::uint64_t end)
{
    const auto at = std::ranges::partition_point(blocks, [&](const HeldBlock& one) { return block_end(one) <= begin; });
    return at != blocks.end() && block_begin(*at) < end;
}

}  // namespace memsweep::measure
