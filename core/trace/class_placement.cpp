// Policies that round sizes up to classes: pools with a list per class that neither split nor merge (powers of two, and
// four classes per doubling), and binary buddies.
#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "core/trace/live_blocks.hpp"
#include "core/trace/placement.hpp"

namespace memsweep::trace {
namespace {

constexpr unsigned class_count = 64 * 4;

std::uint64_t pow2_class(std::uint64_t size)
{
    return size > 1ULL << 63U ? unbounded : std::bit_ceil(size);
}

std::uint64_t quad_class(std::uint64_t size)
{
    const std::uint64_t quarter = std::max<std::uint64_t>(std::bit_floor(size - 1) / 4, 1);
    return rounded_up(size, quarter);
}

template <std::uint64_t (*class_of)(std::uint64_t)>
class ClassPlacement final : public Placement {
  public:
    ClassPlacement(std::uint64_t capacity, std::uint64_t alignment) : capacity_{capacity}, alignment_{alignment} {}

    [[nodiscard]] bool place(std::uint32_t block, std::uint64_t size) override
    {
        const std::uint64_t bytes = class_of(rounded_up(std::max<std::uint64_t>(size, 2), alignment_));
        std::vector<std::uint64_t>& free = free_[index_of(bytes)];
        if (!free.empty()) {
            blocks_.set(block, {free.back(), bytes});
            free.pop_back();
            return true;
        }
        if (bytes > capacity_ || reserved_ > capacity_ - bytes) {
            return false;
        }
        blocks_.set(block, {reserved_, bytes});
        sizes_[index_of(bytes)] = bytes;
        reserved_ += bytes;
        return true;
    }
    void release(std::uint32_t block) override
    {
        const Extent extent = blocks_.of(block);
        free_[index_of(extent.size)].push_back(extent.address);
    }
    [[nodiscard]] Extent place_of(std::uint32_t block) const override { return blocks_.of(block); }
    [[nodiscard]] std::uint64_t needed() const override { return reserved_; }
    [[nodiscard]] std::uint64_t largest_hole() const override
    {
        std::uint64_t largest = 0;
        for (std::size_t at = 0; at < class_count; ++at) {
            largest = !free_[at].empty() ? std::max(largest, sizes_[at]) : largest;
        }
        return largest;
    }

  private:
    static unsigned index_of(std::uint64_t bytes)
    {
        const auto level = static_cast<unsigned>(std::bit_width(bytes)) - 1;
        const std::uint64_t part = level < 2 ? 0 : (bytes >> (level - 2)) & 3U;
        return level * 4 + static_cast<unsigned>(part);
    }

    std::uint64_t capacity_;
    std::uint64_t alignment_;
    std::array<std::vector<std::uint64_t>, class_count> free_;  // addresses
    std::array<std::uint64_t, class_count> sizes_{};
    PerBlock<Extent> blocks_;
    std::uint64_t reserved_{};
};

constexpr unsigned orders = 64;

// A binary buddy allocator in an arena that grows at its upper end. What lies between its end and the next address
// where a block may begin becomes free blocks; the arena grows only where no free block is large enough.
class BuddyPlacement final : public Placement {
  public:
    BuddyPlacement(std::uint64_t capacity, std::uint64_t alignment)
        : capacity_{capacity}, min_order_{static_cast<unsigned>(std::bit_width(alignment - 1))}
    {
    }

    [[nodiscard]] bool place(std::uint32_t block, std::uint64_t size) override
    {
        if (size > 1ULL << (orders - 2)) {
            return false;
        }
        const auto fitting = static_cast<unsigned>(std::bit_width(std::max<std::uint64_t>(size, 1) - 1));
        const unsigned order = std::max(fitting, min_order_);
        unsigned from = order;
        while (from < orders && free_[from].empty()) {
            ++from;
        }
        if (from == orders && !grow(order)) {
            return false;
        }
        from = from == orders ? order : from;
        const std::uint64_t address = free_[from].back();
        remove(address, from);
        while (from > order) {
            --from;
            add(address + (1ULL << from), from);
        }
        blocks_.set(block, {address, order});
        return true;
    }

    void release(std::uint32_t block) override
    {
        auto [address, order] = blocks_.of(block);
        while (order + 1 < orders) {
            const std::uint64_t buddy = address ^ (1ULL << order);
            if (places_.find({buddy, 0, order}) == nullptr) {
                break;
            }
            remove(buddy, order);
            address = std::min(address, buddy);
            ++order;
        }
        add(address, order);
    }
    [[nodiscard]] Extent place_of(std::uint32_t block) const override
    {
        const BuddyBlock one = blocks_.of(block);
        return {one.address, 1ULL << one.order};
    }

    [[nodiscard]] std::uint64_t needed() const override { return end_; }
    [[nodiscard]] std::uint64_t largest_hole() const override
    {
        for (unsigned order = orders; order-- > 0;) {
            if (!free_[order].empty()) {
                return 1ULL << order;
            }
        }
        return 0;
    }

  private:
    struct BuddyBlock {
        std::uint64_t address{};
        unsigned order{};
    };

    bool grow(unsigned order)
    {
        const std::uint64_t bytes = 1ULL << order;
        const std::uint64_t begin = (end_ + bytes - 1) & ~(bytes - 1);
        if (bytes > capacity_ || begin > capacity_ - bytes) {
            return false;
        }
        while (end_ < begin) {
            const auto gap = static_cast<unsigned>(std::countr_zero(end_));
            add(end_, gap);
            end_ += 1ULL << gap;
        }
        add(begin, order);
        end_ = begin + bytes;
        return true;
    }
    void add(std::uint64_t address, unsigned order)
    {
        places_.insert({address, 0, order}, {0, static_cast<std::uint32_t>(free_[order].size())});
        free_[order].push_back(address);
    }
    void remove(std::uint64_t address, unsigned order)
    {
        const std::uint32_t at = places_.remove({address, 0, order})->tag;
        std::vector<std::uint64_t>& list = free_[order];
        if (at + 1 != list.size()) {
            list[at] = list.back();
            places_.insert({list[at], 0, order}, {0, at});
        }
        list.pop_back();
    }

    std::uint64_t capacity_;
    unsigned min_order_;
    std::array<std::vector<std::uint64_t>, orders> free_;  // addresses
    LiveBlocks places_;                                    // where in its list a free block stands; space is the order
    PerBlock<BuddyBlock> blocks_;
    std::uint64_t end_{};
};

}  // namespace

std::span<const PlacementPolicy> class_policies()
{
    static constexpr std::array policies{
        PlacementPolicy{"buddy", "binary buddies", false, make_placement<BuddyPlacement>},
        PlacementPolicy{"pow2", "a list per power of two", false, make_placement<ClassPlacement<pow2_class>>},
        PlacementPolicy{"quad", "a list per class, four classes per doubling", false,
                        make_placement<ClassPlacement<quad_class>>},
    };
    return policies;
}

}  // namespace memsweep::trace
