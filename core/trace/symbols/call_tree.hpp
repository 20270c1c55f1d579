// The stacks of a trace as one tree of functions. Stacks that read alike are one, whatever their addresses.
//
// Cost     some 100 ns a frame.
// Memory   100 bytes a function in its place, and its figures.
// Ownership  names belong to the symbolizer.
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
        ResolvedFrame frame;     // its line is where this function made the next call in the first such stack
        AllocationFigures own;   // of its own requests
    };

    // `figures` by node of the table. Blocks without a stack belong to the root itself.
    CallTree() : nodes_{Node{}} {}
    CallTree(const StackTable& table, Symbolizer& symbolizer, const std::vector<AllocationFigures>& figures);

    [[nodiscard]] const std::vector<Node>& nodes() const noexcept { return nodes_; }
    // The figures of each node, with those of all that it calls.
    [[nodiscard]] std::vector<AllocationFigures> with_callees() const;

  private:
    std::vector<Node> nodes_;
};

}  // namespace memsweep::trace
