// The numbers that a chunk of kind `stacks` or `mappers` has for the events of another, in their order.
//
// Cost     some ns a number.
// Errors   what is damaged, or of another chunk, has no numbers and is not whole.
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
    // None where there is no `place`.
    ChunkNumbers(const ChunkPlace* place, TraceFile& file, const ChunkHeader& events);

    [[nodiscard]] const StackImage& image() const noexcept { return image_; }
    [[nodiscard]] std::uint32_t next() noexcept { return decoder_.next(); }
    // Behind the chunk's last event: false if the numbers were not its own.
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
