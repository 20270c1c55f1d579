// The stacks of a trace as one tree of functions. Stacks that call the same functions of the same files in the same
// order are one path of the tree, whatever their addresses.
//
// Cost     some 100 ns a frame.
// Memory   100 bytes a node, and its figures.
// Ownership  the symbolizer owns the names, and must outlive the tree.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/trace/stacks.hpp"
#include "core/trace/symbols/symbolizer.hpp"

namespace memsweep::trace {

inline constexpr std::size_t most_frames_shown = 2000;  // of one stack

class CallTree {
  public:
    struct Node {
        std::uint32_t parent{};  // smaller than the node's own number; the root is 0
        std::uint32_t depth{};   // the root's is 0
        ResolvedFrame frame;     // its line: where the function makes its call in the node's first stack
        AllocationFigures own;   // of the allocations that the function makes itself
    };

    // `figures`: by node of the table. Blocks without a stack belong to the root itself.
    CallTree() : nodes_{Node{}} {}
    CallTree(const StackTable& table, Symbolizer& symbolizer, const std::vector<AllocationFigures>& figures);

    [[nodiscard]] const std::vector<Node>& nodes() const noexcept { return nodes_; }
    // Returns, for each node, its own figures together with those of all nodes below it.
    [[nodiscard]] std::vector<AllocationFigures> with_callees() const;

  private:
    std::vector<Node> nodes_;
};

}  // namespace memsweep::trace
