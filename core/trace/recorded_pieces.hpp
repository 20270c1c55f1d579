// Finds the chunks of a recording in a recorder's file (recording_layout.hpp), and says which may be taken out of it
// while the process runs.
//
// Cost     a system call a slot.
// Memory   a header a chunk.
// Errors   errors of reading are passed on. A slot without a chunk, or with another one than before, is passed over.
// Threads  any.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "core/base/expected.hpp"
#include "core/trace/format/recording_layout.hpp"
#include "core/trace/trace_file.hpp"

namespace memsweep::trace {

// A chunk at the end of the file, or in the slot that it was written in.
struct RecordedPiece {
    ChunkPlace place;           // the offset is that of the slot, or of the chunk's header
    std::uint32_t slot_used{};  // 0: at the end of the file
    SlotState state{};          // the slot's
};

// How far the chunks of one thread are in a trace. Every chunk that begins before is in it.
struct StreamEnd {
    std::uint64_t first_ticks{};    // where the last chunk begins
    std::uint64_t next_sequence{};  // 0: there is none
    std::uint64_t last_ticks{};
    bool has_ended{};  // that chunk is the end of the thread
};
using StreamEnds = std::map<std::uint32_t, StreamEnd>;  // streams of one process, by thread

[[nodiscard]] bool stands_in(const StreamEnds& ends, const ChunkHeader& header);

// Reads a structure at this offset. False: it is not there whole.
template <typename Structure>
base::Expected<bool> find_structure(const ReadAt& read, std::uint64_t offset, Structure& into)
{
    return MEMSWEEP_TRY(read(offset, {reinterpret_cast<std::uint8_t*>(&into), sizeof into})) == sizeof into;
}

// The slots that hold something.
[[nodiscard]] base::Expected<std::vector<RecordedPiece>> pieces_in_slots(const ReadAt& read, const ImageFacts& facts);

// The words of a slot; false: it holds another chunk by now.
[[nodiscard]] base::Expected<bool> read_slot(const ReadAt& read, const RecordedPiece& piece,
                                             std::vector<std::uint8_t>& payload);

// Sorts chunks into the order of a trace: by thread, then by time. If a chunk lies in two places, the piece that came
// first stays first.
void sort_pieces(std::vector<RecordedPiece>& pieces);

// Returns the chunks of each thread that have no gap before them, in order. The process goes on while its file is
// looked through, so a later chunk of a thread may be found, and an earlier one missed. But a chunk begins only when
// those before it in its thread are full. So each thread is complete up to the last chunk that an earlier look found,
// at the offsets `seen`.
[[nodiscard]] std::vector<RecordedPiece> without_gaps(const std::set<std::uint64_t>& seen,
                                                      std::vector<RecordedPiece> now);

// The full chunks that may be taken, in order: those without gaps that go on where the trace ends, or begin a thread.
// If a chunk is already in the trace, because an earlier look found it, it need only be freed.
[[nodiscard]] std::vector<RecordedPiece> takeable(const std::set<std::uint64_t>& seen, std::vector<RecordedPiece> now,
                                                  StreamEnds ends);

}  // namespace memsweep::trace
