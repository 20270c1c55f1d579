#include "core/probe/working_set.hpp"

#include <algorithm>

#include "core/probe/chase.hpp"
#include "core/probe/probe_case.hpp"
#include "core/sys/page_ops.hpp"
#include "core/sys/pinned_threads.hpp"
#include "core/sys/placed_memory.hpp"

namespace memsweep::probe {
namespace {

constexpr std::uint64_t smallest_set = 1U << 20;
constexpr std::uint64_t largest_set = 128U << 20;
constexpr double seconds_per_set = 0.01;
constexpr std::uint64_t array_count = 3;

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
    const std::uint64_t bytes =
        std::min(largest_set, context.settings.memory_budget_bytes / 2 / smallest_set * smallest_set);
    if (node == nullptr || bytes <= smallest_set) {
        return std::nullopt;
    }
    auto pool = sys::PinnedThreads::start(context.clock, {node->cpus.front()});
    auto memory = sys::PlacedMemory::touched(
        {.bytes = bytes, .pages = model::PageKind::thp, .or_small = true, .node = std::nullopt});
    if (!pool || !memory) {
        return std::nullopt;
    }
    std::vector<SetLatency> found;
    for (std::uint64_t set = smallest_set; set <= bytes && !context.stopped(); set *= 2) {
        const Chase chase{memory->data(), {.bytes = set, .seed = context.settings.seed}};
        auto starts = chase.starts(1);
        double seconds{};
        pool->run([&](std::size_t /*number*/) {
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
    const std::uint64_t wanted = std::max({std::uint64_t{256} << 20, 4 * effective_cache.value_or(0),
                                           (2 * advertised_cache + array_count - 1) / array_count});
    const std::uint64_t allowed = budget_bytes / array_count;
    return std::min(wanted, allowed) / smallest_set * smallest_set;
}

}  // namespace memsweep::probe
