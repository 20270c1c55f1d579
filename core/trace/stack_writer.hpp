// Writes a trace's tree of call stacks, and the names of its addresses.
//
// Cost     some 50 ns a frame that is looked up.
// Memory   some 60 bytes a node, and one chunk.
// Errors   finish() returns the errors of `take`.
// Threads  one.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/trace/format/stack_layout.hpp"
#include "core/trace/trace_writer.hpp"

namespace memsweep::trace {

// Writes chunks of kind `symbols` for one image.
class SymbolsWriter {
  public:
    // If `sealer` is not null, it compresses the chunks.
    SymbolsWriter(TakeBytes take, StackImage image, ChunkSealer* sealer = nullptr)
        : take_{std::move(take)}, image_{image}, sealer_{sealer}
    {
    }

    void add(std::uint64_t address, std::string_view module, std::span<const SourceFrame> frames);
    [[nodiscard]] base::Expected<void> finish();

  private:
    void put_number(std::uint64_t number);
    void put_text(std::string_view text);
    void end_chunk();

    TakeBytes take_;
    StackImage image_;
    ChunkSealer* sealer_;
    base::Expected<void> outcome_;
    std::string payload_;
    std::map<std::string, std::uint64_t, std::less<>> texts_;  // numbers of the current chunk's texts
    std::uint64_t last_address_{};
    std::uint64_t sequence_{};
};

class StackWriter {
  public:
    StackWriter(TakeBytes take, StackImage image) : take_{std::move(take)}, image_{image}, symbols_{take_, image} {}

    // Returns the number of the node for this address under its caller's node, `parent`. Adds the node if it is new.
    // `parent` 0: the address has no caller.
    [[nodiscard]] std::uint32_t node(std::uint32_t parent, std::uint64_t address);
    // Names an address. If an address is named twice, the first name counts.
    void name(std::uint64_t address, std::string_view module, std::span<const SourceFrame> frames);

    [[nodiscard]] bool empty() const noexcept { return nodes_.empty(); }
    // How much the writer holds in memory, in the units of bounds.hpp.
    [[nodiscard]] std::uint64_t held() const noexcept { return nodes_.size(); }
    [[nodiscard]] base::Expected<void> finish();

  private:
    struct HashNode {
        std::size_t operator()(const FrameNode& node) const noexcept
        {
            return static_cast<std::size_t>((node.address ^ (std::uint64_t{node.parent} << 40U) ^ node.parent) *
                                            0x9E3779B97F4A7C15ULL);
        }
    };

    TakeBytes take_;
    StackImage image_;
    std::vector<FrameNode> nodes_;  // in the order of their numbers
    std::unordered_map<FrameNode, std::uint32_t, HashNode> numbers_;
    SymbolsWriter symbols_;
};

}  // namespace memsweep::trace
