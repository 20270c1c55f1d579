#include "core/sys/processor_pair.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <vector>

namespace memsweep::sys {
namespace {

// What a program can tell one processor from another by.
struct Likeness {
    int kind{};
    std::vector<std::tuple<std::uint32_t, CacheType, std::uint64_t, std::size_t>> caches;

    bool operator==(const Likeness&) const = default;
};

struct Candidate {
    const Processor* processor{};
    Likeness likeness;
    std::size_t node{};
};

Likeness likeness_of(const Processor& processor, const Topology& topology)
{
    Likeness likeness{.kind = processor.kind};
    for (const Cache& cache : topology.caches) {
        if (std::ranges::binary_search(cache.cpus, processor.id)) {
            likeness.caches.emplace_back(cache.level, cache.type, cache.bytes, cache.cpus.size());
        }
    }
    return likeness;
}

std::vector<Candidate> candidates(const Topology& topology)
{
    std::vector<Candidate> all;
    for (const Processor& processor : topology.processors) {
        if (processor.is_allowed) {
            const auto node = std::ranges::find_if(topology.nodes, [&](const NumaNode& one) {
                return std::ranges::find(one.cpus, processor.id) != one.cpus.end();
            });
            all.push_back({&processor, likeness_of(processor, topology),
                           static_cast<std::size_t>(node - topology.nodes.begin())});
        }
    }
    return all;
}

}  // namespace

std::optional<std::pair<std::uint32_t, std::uint32_t>> two_of_one_kind(const Topology& topology)
{
    const std::vector<Candidate> all = candidates(topology);
    std::optional<std::pair<std::uint32_t, std::uint32_t>> best;
    std::tuple<bool, int, bool> best_rank;
    for (std::size_t i = 0; i < all.size(); ++i) {
        for (std::size_t j = i + 1; j < all.size(); ++j) {
            if (all[i].likeness != all[j].likeness) {
                continue;
            }
            const Processor& one = *all[i].processor;
            const Processor& other = *all[j].processor;
            const bool are_siblings = one.core && one.core == other.core;
            const std::tuple rank{!are_siblings, one.kind, all[i].node == all[j].node};
            if (!best || rank > best_rank) {
                best = {one.id, other.id};
                best_rank = rank;
            }
        }
    }
    return best;
}

}  // namespace memsweep::sys
