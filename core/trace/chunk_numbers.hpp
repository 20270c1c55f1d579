// Reads a chunk of kind `stacks` or `mappers`, which accompanies a chunk of events. It has a number for each event for
// which takes_stack() (kind `stacks`) or takes_mapper() (kind `mappers`) is true, in the order of the events.
//
// Cost     some ns per number.
// Errors   if the chunk belongs to another chunk of events, next() is always 0. If the chunk is damaged, next() is 0
//          from the damage on. In both cases is_whole() is false.
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
    // `place` is the chunk to read; nullptr: there is none. `events` is the header of the chunk of events.
    ChunkNumbers(const ChunkPlace* place, TraceFile& file, const ChunkHeader& events);

    [[nodiscard]] const StackImage& image() const noexcept { return image_; }
    [[nodiscard]] std::uint32_t next() noexcept { return decoder_.next(); }
    // Call after the last event of the chunk. False: the numbers did not belong to these events.
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
