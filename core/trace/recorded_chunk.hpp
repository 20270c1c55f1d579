// Translates a chunk that a recorder wrote (recording_layout.hpp) into one of a trace.
//
// Cost     20 ns an event, most of it compression.
// Memory   some 800 KiB, kept from one chunk to the next, and the chunk.
// Errors   none: words that no recorder writes end the chunk, which is `damaged` then.
// Threads  one at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/trace/format/recording_layout.hpp"
#include "core/trace/format/trace_layout.hpp"
#include "core/trace/trace_writer.hpp"

namespace memsweep::trace {

struct RecordedChunk {
    SealedChunk chunk;
    std::vector<std::uint8_t> stack_runs;      // a chunk of stacks, behind its head; empty: no event has a stack
    std::vector<std::uint8_t> mapper_runs;     // likewise for a chunk of mappers
    std::vector<std::uint8_t> caller_runs;     // likewise for a chunk of callers
    std::vector<std::uint64_t> thread_stacks;  // address and size, as its events say
    std::vector<std::uint64_t> usable_sizes;   // size, alignment and answer, likewise
    bool damaged{};                            // its events end before its payload does
    bool ends_thread{};                        // its last event is the exit of its thread
};

class ChunkTranslator {
  public:
    // Only the thread, the sequence and first_ticks of `header` are read. The payload is whole words. In the chunk
    // returned, processes have their number_in_trace.
    [[nodiscard]] RecordedChunk translated(const ChunkHeader& header, std::span<const std::uint8_t> payload,
                                           const ImageFacts& image);
    [[nodiscard]] ChunkSealer& sealer() noexcept { return sealer_; }

  private:
    std::vector<std::uint64_t> words_;
    std::vector<std::uint8_t> events_;
    std::vector<std::uint32_t> stacks_;   // for the events that have one, in their order
    std::vector<std::uint32_t> mappers_;  // likewise
    std::vector<std::uint64_t> callers_;  // likewise, for events without a stack; 0 for the others
    ChunkSealer sealer_;
};

}  // namespace memsweep::trace
