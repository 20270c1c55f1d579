// Keeps track of a trace that is put together chunk by chunk, and reads one that was left unfinished.
//
// An unfinished trace holds the full chunks that were taken out of recordings while their processes ran; they are
// nowhere else. If another image followed one in its process, the trace also holds the rest of that image, with its
// ends. Its header names no process. The part that is written when the processes have ended begins with facts, and is
// still in the recordings. The header comes last of all.
//
// Memory   that of a ChunkTranslator, and some 80 bytes a thread.
// Errors   invalid_input: the file is no trace. Errors of reading, and of the function that takes the bytes, are passed
//          on.
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
    // By process: how many of its images have ended, and how far the threads of the next image are in the trace. The
    // images of a process stand one behind the other, each up to its end.
    std::map<std::uint32_t, std::uint64_t> ended_images;
    std::map<std::uint32_t, StreamEnds> streams;
    std::uint64_t events{};
    std::uint64_t damaged_chunks{};
    std::string stacks_taken;       // as the fact `stacks` says it; empty: none yet
    std::set<std::string> pythons;  // versions of interpreters
    std::uint64_t lost_stacks{};    // events
    int stacks_errno{};             // why stacks were lost; 0: none is, or their table was full
    ChunkTranslator translator;     // for the next chunks
};

// Puts a chunk at the end of the trace. After an error it is not in the trace.
[[nodiscard]] base::Expected<void> put(TraceProgress& progress, const TakeBytes& take, const RecordedChunk& chunk);

class UnfinishedTrace {
  public:
    // Absent: nothing stands in the file.
    [[nodiscard]] static base::Expected<std::optional<UnfinishedTrace>> open(const ReadAt& read,
                                                                             const std::string& name);

    // Whether all of it had been written when it was left. Then it needs no recordings.
    [[nodiscard]] bool is_finished() const noexcept { return file_.header().process != 0; }
    [[nodiscard]] const FileHeader& header() const noexcept { return file_.header(); }
    [[nodiscard]] const Facts& facts() const noexcept { return file_.facts(); }
    // Copies the chunks that were taken while the processes ran; from a finished trace, all chunks of events.
    [[nodiscard]] base::Expected<TraceProgress> copy_chunks(const TakeBytes& take) const;

  private:
    UnfinishedTrace(ReadAt read, TraceFile file) : read_{std::move(read)}, file_{std::move(file)} {}

    ReadAt read_;
    TraceFile file_;
};

}  // namespace memsweep::trace
