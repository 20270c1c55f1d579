// Where a policy puts blocks in an arena, simulated: addresses and sizes, no memory.
//
// Units    bytes.
// Cost     10 to 200 ns an operation.
// Threads  one.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace memsweep::trace {

inline constexpr std::uint64_t unbounded = std::numeric_limits<std::uint64_t>::max();

class Placement {
  public:
    Placement() = default;
    Placement(const Placement&) = delete;
    Placement& operator=(const Placement&) = delete;
    virtual ~Placement() = default;

    // Blocks are numbered from 0, and a number may be used again. False: it would need more than the capacity.
    [[nodiscard]] virtual bool place(std::uint32_t block, std::uint64_t size) = 0;
    virtual void release(std::uint32_t block) = 0;

    // Where a block lies, for policies that have one arena.
    struct Range {
        std::uint64_t address{};
        std::uint64_t size{};
    };
    [[nodiscard]] virtual std::optional<Range> place_of(std::uint32_t /*block*/) const { return std::nullopt; }

    // What all placements so far needed: the highest end of a block, or what was reserved.
    [[nodiscard]] virtual std::uint64_t needed() const = 0;
    // The state before the placement that last raised needed(). A policy that places blocks the same way in every
    // capacity would fail exactly there in a smaller arena, so that no search is needed. Empty for other policies.
    struct Growth {
        std::uint64_t largest_hole{};
        std::uint64_t end{};  // of what was taken; a smaller arena has a hole above it
    };
    [[nodiscard]] virtual std::optional<Growth> last_growth() const { return std::nullopt; }

    // The largest free range that a block could go to, below needed().
    [[nodiscard]] virtual std::uint64_t largest_hole() const = 0;
};

struct PlacementPolicy {
    std::string_view name;
    std::string_view help;
    bool depends_on_capacity{};  // so does its growth: the smallest capacity must be searched for
    std::unique_ptr<Placement> (*make)(std::uint64_t capacity, std::uint64_t alignment);
};

// All policies, in the order in which they are shown; and those of each source.
[[nodiscard]] std::span<const PlacementPolicy> placement_policies();
[[nodiscard]] std::span<const PlacementPolicy> hole_policies();
[[nodiscard]] std::span<const PlacementPolicy> class_policies();

template <typename Policy>
std::unique_ptr<Placement> make_placement(std::uint64_t capacity, std::uint64_t alignment)
{
    return std::make_unique<Policy>(capacity, alignment);
}

}  // namespace memsweep::trace
