// Translates a chunk that a recorder wrote (recording_layout.hpp) into a chunk of a trace.
//
// Cost     20 ns per event, most of it for compression.
// Memory   some 800 KiB, which all chunks share, and the translated chunk.
// Errors   none. If a word is one that no recorder writes, the translated chunk ends before this word, and is marked
//          `damaged`.
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
    std::vector<std::uint8_t> stack_runs;   // runs of a `stacks` chunk (stack_layout.hpp); empty: no event has a stack
    std::vector<std::uint8_t> mapper_runs;  // runs of a `mappers` chunk (likewise); empty: no event has a module
    std::vector<std::uint8_t> caller_runs;  // a `callers` chunk without its head; empty: no event has a caller
    std::vector<std::uint64_t> thread_stacks;  // for each thread stack noted in the chunk: address, size
    std::vector<std::uint64_t> usable_sizes;   // for each usable size noted: size, alignment, usable size
    bool damaged{};                            // its events end before its payload does
    bool ends_thread{};                        // its last event is the exit of its thread
};

class ChunkTranslator {
  public:
    // Of `header`, only thread, sequence, first_ticks and flags are read. `payload` must be a whole number of words.
    // The translated chunk has number_in_trace() (recording_layout.hpp) in place of process numbers.
    [[nodiscard]] RecordedChunk translated(const ChunkHeader& header, std::span<const std::uint8_t> payload,
                                           const ImageFacts& image);
    [[nodiscard]] ChunkSealer& sealer() noexcept { return sealer_; }

  private:
    std::vector<std::uint64_t> words_;
    std::vector<std::uint8_t> events_;
    std::vector<std::uint32_t> stacks_;   // one for each event that may have a stack, in order; 0: no stack
    std::vector<std::uint32_t> mappers_;  // one module for each event that maps or unmaps, in order
    std::vector<std::uint64_t> callers_;  // for each entry of stacks_, the event's caller if it has no stack, else 0
    ChunkSealer sealer_;
};

}  // namespace memsweep::trace
