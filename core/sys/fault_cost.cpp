#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "core/sys/page_ops.hpp"

namespace memsweep::sys {
namespace {

constexpr std::uint64_t touched_bytes = 16U << 20;
constexpr std::size_t rounds = 5;

double touch_seconds(const Clock& clock, const Mapping& mapping)
{
    const auto begin = clock.now();
    touch_pages(mapping.data(), mapping.size());
    return std::chrono::duration<double>(clock.now() - begin).count();
}

// One fresh mapping: mapped and unmapped outside the timed part.
base::Expected<double> measure_round(const Clock& clock)
{
    auto mapping = Mapping::anonymous(touched_bytes);
    if (!mapping) {
        return base::fail(std::move(mapping).error());
    }
    // Refused where huge pages are not built in: then there is none to forbid.
    static_cast<void>(advise(mapping->data(), mapping->size(), Advice::no_huge_pages));
    const double faulting = touch_seconds(clock, *mapping);
    const double present = touch_seconds(clock, *mapping);
    const std::uint64_t pages = mapping->size() / page_size();
    return std::max(faulting - present, 0.0) / static_cast<double>(pages);
}

}  // namespace

base::Expected<FaultCost> measure_fault_cost(const Clock& clock) noexcept
{
    // The round that does not count makes the machine own the memory that the others are given.
    if (auto warm_up = measure_round(clock); !warm_up) {
        return base::fail(std::move(warm_up).error());
    }
    std::array<double, rounds> costs{};
    for (double& cost : costs) {
        auto measured = measure_round(clock);
        if (!measured) {
            return base::fail(std::move(measured).error());
        }
        cost = *measured;
    }
    std::ranges::sort(costs);
    return FaultCost{.seconds_per_fault = costs[rounds / 2],
                     .fastest_seconds_per_fault = costs.front(),
                     .pages = touched_bytes / page_size()};
}

}  // namespace memsweep::sys
