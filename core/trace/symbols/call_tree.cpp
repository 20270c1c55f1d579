#include "core/trace/symbols/call_tree.hpp"

#include <tuple>
#include <unordered_map>

namespace memsweep::trace {
namespace {

// Texts of a symbolizer are one where they are alike, so that their place tells them apart.
struct ChildKey {
    std::uint32_t parent{};
    const char* function{};
    const char* file{};
    friend bool operator==(const ChildKey&, const ChildKey&) = default;
};

struct HashChild {
    std::size_t operator()(const ChildKey& key) const noexcept
    {
        const auto function = reinterpret_cast<std::uintptr_t>(key.function);
        const auto file = reinterpret_cast<std::uintptr_t>(key.file);
        return (function * 31 + file + (std::uint64_t{key.parent} << 32U)) * 0x9E3779B97F4A7C15ULL >> 7U;
    }
};

}  // namespace

CallTree::CallTree(const StackTable& table, Symbolizer& symbolizer, const std::vector<AllocationFigures>& figures)
    : nodes_{Node{}}
{
    std::unordered_map<ChildKey, std::uint32_t, HashChild> children;
    std::vector<std::uint32_t> places(table.count());
    for (std::uint32_t node = 0; node < table.count(); ++node) {
        std::uint32_t place = places[table.node(node).parent];
        const auto frames = node == 0 ? std::span<const ResolvedFrame>{} : symbolizer.at(node);
        for (std::size_t i = frames.size(); i-- > 0 && nodes_[place].depth < most_frames_shown;) {
            const ResolvedFrame& frame = frames[i];
            const auto [child, is_new] = children.try_emplace({place, frame.function.data(), frame.file.data()},
                                                              static_cast<std::uint32_t>(nodes_.size()));
            if (is_new) {
                nodes_.push_back({.parent = place, .depth = nodes_[place].depth + 1, .frame = frame});
            }
            place = child->second;
        }
        places[node] = place;
        if (node < figures.size()) {
            add(nodes_[place].own, figures[node]);
        }
    }
}

std::vector<AllocationFigures> CallTree::with_callees() const
{
    std::vector<AllocationFigures> sums;
    sums.reserve(nodes_.size());
    for (const Node& node : nodes_) {
        sums.push_back(node.own);
    }
    for (std::size_t node = nodes_.size(); node-- > 1;) {
        add(sums[nodes_[node].parent], sums[node]);
    }
    return sums;
}

}  // namespace memsweep::trace
