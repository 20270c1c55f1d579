// The state of a trace that is written chunk by chunk, and a reader for a trace that was left unfinished.
//
// An unfinished trace holds the full chunks that were moved out of the processes' recordings while the processes ran.
// After the move, the recordings no longer have these chunks. If a process replaced its image (exec), the trace also
// holds the remaining chunks of the old image. The facts, and the parts of the trace that follow them, are written when
// the processes have ended. Until then, their data lie in the recordings. The header of the file is completed last;
// until then it names no process.
//
// Memory   that of a ChunkTranslator, and some 80 bytes a thread.
// Errors   invalid_input: the file is no trace. Errors of reading, and errors of `take`, are passed on.
// Threads  one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/base/expected.hpp"
#include "core/trace/recorded_chunk.hpp"
#include "core/trace/recorded_pieces.hpp"
#include "core/trace/trace_writer.hpp"

namespace memsweep::trace {

struct TraceProgress {
    // By process: how many of its images have ended. The trace has the images of a process one after the other.
    std::map<std::uint32_t, std::uint64_t> ended_images;
    // By process: for each thread of the current image, the last of its chunks that the trace has.
    std::map<std::uint32_t, StreamEnds> streams;
    std::uint64_t events{};
    std::uint64_t damaged_chunks{};
    std::string stacks_taken;       // value of the fact `stacks`; empty: no stacks yet
    std::set<std::string> pythons;  // versions of Python interpreters
    std::uint64_t lost_stacks{};    // events that lost their stacks
    int stacks_errno{};             // why stacks were lost; 0: none were, or the table of stacks was full
    ChunkTranslator translator;     // for the next chunks
};

// Appends a chunk to the trace. After an error, the trace lacks this chunk.
[[nodiscard]] base::Expected<void> put(TraceProgress& progress, const TakeBytes& take, const RecordedChunk& chunk);

class UnfinishedTrace {
  public:
    // nullopt: the file is shorter than a header.
    [[nodiscard]] static base::Expected<std::optional<UnfinishedTrace>> open(const ReadAt& read,
                                                                             const std::string& name);

    // Whether the whole trace has been written. If so, no recordings are needed.
    [[nodiscard]] bool is_finished() const noexcept { return file_.header().process != 0; }
    [[nodiscard]] const FileHeader& header() const noexcept { return file_.header(); }
    [[nodiscard]] const Facts& facts() const noexcept { return file_.facts(); }
    // Copies the chunks that were moved out of recordings while the processes ran. From a finished trace, copies all
    // chunks of events and all side chunks.
    [[nodiscard]] base::Expected<TraceProgress> copy_chunks(const TakeBytes& take) const;

  private:
    UnfinishedTrace(ReadAt read, TraceFile file) : read_{std::move(read)}, file_{std::move(file)} {}

    ReadAt read_;
    TraceFile file_;
};

}  // namespace memsweep::trace
