// Reads a chunk of kind `stacks` or `mappers`, which accompanies a chunk of events. The chunk has numbers for some of
// these events, in the order of the events. Kind `stacks` has the number of a stack node for each event for which
// takes_stack() is true. Kind `mappers` has the number of a module for each event for which takes_mapper() is true.
//
// Cost     some ns per number.
// Errors   if the chunk belongs to another chunk of events, next() always returns 0. If the chunk is damaged, next()
//          returns 0 from the damage on. In both cases is_whole() returns false.
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
