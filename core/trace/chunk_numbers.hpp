// Reads a chunk of kind `stacks` or `mappers`: the numbers that it has for the events of another chunk, in their order.
//
// Cost     some ns a number.
// Errors   a chunk that is damaged, or belongs to other events, has no numbers and is not whole.
// Threads  one.
#pragma once

#include <cstdint>
#include <vector>

#include "core/trace/format/stack_layout.hpp"
#include "core/trace/trace_file.hpp"

namespace memsweep::trace {

class ChunkNumbers {
  public:
    ChunkNumbers() = default;
    // Without a `place` there are no numbers.
    ChunkNumbers(const ChunkPlace* place, TraceFile& file, const ChunkHeader& events);

    [[nodiscard]] const StackImage& image() const noexcept { return image_; }
    [[nodiscard]] std::uint32_t next() noexcept { return decoder_.next(); }
    // Call after the chunk's last event. False: the numbers were not those of this chunk.
    [[nodiscard]] bool is_whole() const noexcept
    {
        return !decoder_.damaged() && !decoder_.has_more() && !is_of_another_;
    }

  private:
    std::vector<std::uint8_t> payload_;
    StacksDecoder decoder_;
    StackImage image_;
    bool is_of_another_{};
};

}  // namespace memsweep::trace
