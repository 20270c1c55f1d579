#include "core/transfer/working_set.hpp"

#include <algorithm>

#include "core/sys/mapped_pages.hpp"
#include "core/sys/page_ops.hpp"
#include "core/transfer/chase.hpp"
#include "core/transfer/gang.hpp"

namespace memsweep::transfer {
namespace {

constexpr std::uint64_t mib = 1U << 20;
constexpr std::uint64_t smallest_set = mib;
constexpr std::uint64_t largest_set = 128 * mib;
constexpr double seconds_per_set = 0.01;
constexpr std::uint64_t arrays = 3;

}  // namespace

std::optional<std::uint64_t> effective_cache_bytes(const std::vector<SetLatency>& by_size)
{
    if (by_size.empty()) {
        return std::nullopt;
    }
    const auto largest = std::ranges::max_element(by_size, {}, &SetLatency::bytes);
    std::optional<std::uint64_t> found;
    for (const SetLatency& set : by_size) {
        if (set.seconds < largest->seconds / 2) {
            found = std::max(found.value_or(0), set.bytes);
        }
    }
    return found;
}

std::optional<std::uint64_t> measure_effective_cache(const ProbeContext& context)
{
    const sys::NumaNode* const node = first_with_cpus(context.nodes);
    const std::uint64_t bytes = std::min(largest_set, context.settings.memory_budget_bytes / 2 / mib * mib);
    if (node == nullptr || bytes <= smallest_set) {
        return std::nullopt;
    }
    auto gang = Gang::start(context.clock, {node->cpus.front()});
    auto memory = sys::PagedMemory::map(bytes, sys::PageSize::thp);
    if (!memory) {
        memory = sys::PagedMemory::map(bytes, sys::PageSize::small);
    }
    if (!gang || !memory) {
        return std::nullopt;
    }
    sys::touch_pages(memory->data(), bytes);
    std::vector<SetLatency> found;
    for (std::uint64_t set = smallest_set; set <= bytes && !context.stopped(); set *= 2) {
        const Chase chase{memory->data(), {.bytes = set, .seed = context.settings.seed}};
        auto starts = chase.starts(1);
        double seconds{};
        gang->run([&](std::size_t /*number*/) {
            static_cast<void>(latency_of(starts, seconds_per_set / 2, context.clock));
            seconds = latency_of(starts, seconds_per_set, context.clock);
        });
        found.push_back({set, seconds});
    }
    return effective_cache_bytes(found);
}

std::uint64_t memory_array_bytes(std::optional<std::uint64_t> effective_cache, std::uint64_t advertised_cache,
                                 std::uint64_t budget_bytes)
{
    const std::uint64_t wanted =
        std::max({256 * mib, 4 * effective_cache.value_or(0), (2 * advertised_cache + arrays - 1) / arrays});
    const std::uint64_t allowed = budget_bytes / arrays;
    return std::min(wanted, allowed) / mib * mib;
}

}  // namespace memsweep::transfer
