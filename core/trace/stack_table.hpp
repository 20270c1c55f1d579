// The call stacks of all processes of a trace in one table, and the names that the trace itself gives to their
// addresses.
//
// A stack is a path in a tree of frames, and is named by the number of its innermost node, as in Event::stack. 0 means
// no stack. Parents have smaller numbers than their children. So sums over subtrees can be computed in one pass from
// the last node to the first.
//
// Some events have only a caller instead of a stack. The node of such an event has the caller's address. This node's
// parent has the address callers_not_followed, because the outer callers are unknown. Each image has one such node for
// each caller's address.
//
// Cost     some 10 ns a node, when the table is read.
// Memory   16 bytes a node, and the payloads of modules and symbols.
// Errors   a malformed chunk is read up to the fault, and counted in TraceFile::damage().
// Threads  any, after read().
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/trace/chunk_numbers.hpp"
#include "core/trace/format/stack_layout.hpp"
#include "core/trace/module_table.hpp"
#include "core/trace/trace_file.hpp"

namespace memsweep::trace {

// What the trace itself says about an address: the module that contains it, and its frames, innermost first.
struct NamedAddress {
    std::string_view module{};
    std::span<const SourceFrame> frames{};
};

class StackTable {
  public:
    [[nodiscard]] static StackTable read(TraceFile& file);

    // Nodes are 1 to count() - 1.
    [[nodiscard]] std::uint32_t count() const noexcept { return static_cast<std::uint32_t>(nodes_.size()); }
    [[nodiscard]] bool empty() const noexcept { return nodes_.size() == 1; }
    [[nodiscard]] const FrameNode& node(std::uint32_t number) const { return nodes_[number]; }
    [[nodiscard]] const StackImage& image_of(std::uint32_t number) const;
    // Converts the number of a node in its image to its number in this table. 0: the trace does not have the node.
    [[nodiscard]] std::uint32_t find(const StackImage& image, std::uint32_t node) const;

    // Returns the modules of an image, in the order of the trace.
    [[nodiscard]] const std::vector<LoadedModule>& modules(const StackImage& image) const { return modules_.of(image); }
    [[nodiscard]] std::optional<NamedAddress> names(const StackImage& image, std::uint64_t address) const;

    // Returns the node of the events that have this address as their caller and have no stack. 0: there are no such
    // events.
    [[nodiscard]] std::uint32_t find_caller(const StackImage& image, std::uint64_t address) const;
    // Returns the result of find_caller() for a node's address. For a node that find_caller() can return, it is the
    // node's own number.
    [[nodiscard]] std::uint32_t caller_of(std::uint32_t number) const;
    [[nodiscard]] bool has_callers() const noexcept { return has_callers_; }

    // Returns the chunk that has the nodes of the events in the chunk `events`. Null: there is none.
    [[nodiscard]] const ChunkPlace* stacks_of(const ChunkHeader& events) const;
    // Returns the chunk that has the callers of those events in the chunk `events` that have no stack. Null: there is
    // none.
    [[nodiscard]] const ChunkPlace* callers_of(const ChunkHeader& events) const;

  private:
    struct Place {
        StackImage image;
        std::uint32_t first{};  // the number in this table of the image's node 1
        std::uint32_t count{};
        std::uint32_t first_caller{};  // the first of its callers' nodes, which are sorted by address
        std::uint32_t callers{};
    };
    struct Trees {
        std::map<StackImage, std::vector<FrameNode>> nodes;
        std::map<StackImage, std::vector<std::uint64_t>> callers;
    };
    struct Symbol {
        StackImage image;
        std::uint64_t address{};
        std::string_view module{};
        std::uint32_t first_frame{};
        std::uint32_t frames{};
    };
    using ChunkKey = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, std::uint64_t>;
    static ChunkKey key_of(const ChunkHeader& header);

    [[nodiscard]] const Place* place_of(std::uint32_t number) const;
    void take_frames(const std::vector<std::uint8_t>& payload, std::uint32_t process, Trees& trees, TraceFile& file);
    void take_callers(const std::vector<std::uint8_t>& payload, std::uint32_t process, Trees& trees, TraceFile& file);
    void take_symbols(std::uint32_t process, TraceFile& file);
    bool take_symbol(payload::Cursor& cursor, Symbol& symbol, std::vector<std::string_view>& texts);
    void join(Trees& trees);

    std::vector<FrameNode> nodes_{FrameNode{}};
    std::vector<Place> places_;  // by first
    ModuleTable modules_;
    std::vector<Symbol> symbols_;  // by image and address
    std::vector<SourceFrame> frames_;
    std::map<ChunkKey, ChunkPlace> stacks_;
    std::map<ChunkKey, ChunkPlace> callers_;
    bool has_callers_{};
    std::vector<std::vector<std::uint8_t>> payloads_;  // texts point into them
    std::uint64_t held_{};                             // how much memory the table holds, in the units of bounds.hpp
};

// Gives the nodes of one chunk's events, in the order of the events.
class ChunkStacks {
  public:
    ChunkStacks() = default;
    // If the trace has no nodes for this chunk, next() is always 0.
    ChunkStacks(const StackTable& table, TraceFile& file, const ChunkHeader& events);

    [[nodiscard]] std::uint32_t next();
    // Call after the chunk's last event. False: the nodes did not match the chunk's events.
    [[nodiscard]] bool is_whole() const noexcept
    {
        return numbers_.is_whole() && !has_strange_ && !callers_.damaged() && !callers_.has_more();
    }

  private:
    void take_callers(const ChunkPlace& place, TraceFile& file, const ChunkHeader& events);

    ChunkNumbers numbers_;
    std::vector<std::uint8_t> caller_payload_;
    StacksDecoder callers_;
    std::vector<std::uint32_t> caller_numbers_;  // the node in the table of each caller in the chunk
    const StackTable* table_{};
    std::uint32_t last_{};  // the last event's node in its image; `number_` is the same node in the table
    std::uint32_t number_{};
    bool has_strange_{};
};

}  // namespace memsweep::trace
