// Pools that keep a list per size class and neither split nor merge: powers of two, and four classes per doubling.
#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "core/trace/placement.hpp"
#include "core/trace/segments.hpp"

namespace memsweep::trace {
namespace {

constexpr unsigned most_classes = 64 * 4;

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
        const unsigned at = index_of(bytes);
        if (free_[at] > 0) {
            --free_[at];
        } else if (bytes > capacity_ || reserved_ > capacity_ - bytes) {
            return false;
        } else {
            reserved_ += bytes;
            sizes_[at] = bytes;
        }
        if (block >= classes_.size()) {
            classes_.resize(std::size_t{block} * 2 + 64);
        }
        classes_[block] = static_cast<std::uint16_t>(at);
        return true;
    }
    void release(std::uint32_t block) override { ++free_[classes_[block]]; }
    [[nodiscard]] std::uint64_t needed() const override { return reserved_; }
    [[nodiscard]] std::uint64_t largest_hole() const override
    {
        std::uint64_t largest = 0;
        for (std::size_t at = 0; at < most_classes; ++at) {
            largest = free_[at] > 0 ? std::max(largest, sizes_[at]) : largest;
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
    std::array<std::uint64_t, most_classes> free_{};
    std::array<std::uint64_t, most_classes> sizes_{};
    std::vector<std::uint16_t> classes_;
    std::uint64_t reserved_{};
};

}  // namespace

std::unique_ptr<Placement> make_pow2(std::uint64_t capacity, std::uint64_t alignment)
{
    return std::make_unique<ClassPlacement<pow2_class>>(capacity, alignment);
}

std::unique_ptr<Placement> make_quad(std::uint64_t capacity, std::uint64_t alignment)
{
    return std::make_unique<ClassPlacement<quad_class>>(capacity, alignment);
}

}  // namespace memsweep::trace
