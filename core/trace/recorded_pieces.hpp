// Finds the chunks in a recorder's file (recording_layout.hpp), and tells which of them may be moved into the trace
// while the process runs.
//
// Cost     one system call for each slot.
// Memory   one header for each chunk.
// Errors   errors of reading are passed on. A slot is skipped if it has no chunk, or if another chunk has replaced the
//          chunk that was found in the slot.
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

// A chunk of the file. It lies either in the slot in which it was written, or at the end of the file, to which it was
// appended.
struct RecordedPiece {
    ChunkPlace place;           // its offset is that of the slot, or of the header at the end of the file
    std::uint32_t slot_used{};  // bytes that are used in the slot; 0: the chunk is at the end of the file
    SlotState state{};          // the state of the slot
};

// The end of one thread's chunks in a trace. The trace has every chunk of the thread up to here.
struct StreamEnd {
    std::uint64_t first_ticks{};    // of the last chunk in the trace
    std::uint64_t next_sequence{};  // of the next chunk; 0: the trace has no chunk of the thread yet
    std::uint64_t last_ticks{};
    bool has_ended{};  // the last chunk ends with the thread's exit
};
using StreamEnds = std::map<std::uint32_t, StreamEnd>;  // streams of one process, by thread

// Whether the trace already has the chunk with this header. `ends`: for each thread, where its
// chunks in the trace end.
[[nodiscard]] bool stands_in(const StreamEnds& ends, const ChunkHeader& header);

// Reads a structure at this offset. False: the file ends before the end of the structure.
template <typename Structure>
base::Expected<bool> find_structure(const ReadAt& read, std::uint64_t offset, Structure& into)
{
    return MEMSWEEP_TRY(read(offset, {reinterpret_cast<std::uint8_t*>(&into), sizeof into})) == sizeof into;
}

// Returns the chunks that lie in slots.
[[nodiscard]] base::Expected<std::vector<RecordedPiece>> pieces_in_slots(const ReadAt& read, const ImageFacts& facts);

// Reads the words of the piece's slot into `payload`. False: another chunk has replaced the piece's chunk in the slot.
[[nodiscard]] base::Expected<bool> read_slot(const ReadAt& read, const RecordedPiece& piece,
                                             std::vector<std::uint8_t>& payload);

// Sorts chunks into the order of a trace: by thread, then by time. If two pieces hold the same chunk, they keep their
// order.
void sort_pieces(std::vector<RecordedPiece>& pieces);

// Drops from `now` each chunk for which an earlier chunk of the same thread may be missing in `now`. Returns the rest
// in order. `now`: what the latest search of the file found. `seen`: the offsets of the chunks that an earlier search
// found. Two searches are needed because the process goes on writing during a search: the search may find a chunk, but
// miss an earlier chunk of the same thread. However, a thread begins a chunk only when its earlier chunks are full. So
// if a search has found a chunk, a later search finds all earlier chunks of that thread.
[[nodiscard]] std::vector<RecordedPiece> without_gaps(const std::set<std::uint64_t>& seen,
                                                      std::vector<RecordedPiece> now);

// `now`: full chunks. Returns, in order, those that may be moved into the trace. These are the chunks of without_gaps()
// that continue the trace without a gap: for each thread, the chunks that follow its last chunk in the trace. If the
// trace has no chunk of the thread, or a new thread has its number, these are the chunks from sequence 0 on. A chunk at
// an offset in `seen` is also returned if the trace already has it: in this case, only its slot must be freed.
[[nodiscard]] std::vector<RecordedPiece> takeable(const std::set<std::uint64_t>& seen, std::vector<RecordedPiece> now,
                                                  StreamEnds ends);

}  // namespace memsweep::trace
