// The chunks of a recording where they lie in a recorder's file (recording_layout.hpp), and which of them may be taken
// out of it while their process runs.
//
// Cost     a system call a slot.
// Memory   a header a chunk.
// Errors   those of reading. A slot that holds no chunk, or another one than before, is no error: it is passed over.
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

// How far the chunks of one thread stand in a trace. Whatever begins before is in it.
struct StreamEnd {
    std::uint64_t first_ticks{};    // where the last chunk begins
    std::uint64_t next_sequence{};  // 0: there is none
    std::uint64_t last_ticks{};
    bool has_ended{};  // that chunk is the end of the thread
};
using StreamEnds = std::map<std::uint32_t, StreamEnd>;  // streams of one process, by thread

[[nodiscard]] bool stands_in(const StreamEnds& ends, const ChunkHeader& header);

// Whether it is there whole.
template <typename Structure>
base::Expected<bool> find_structure(const ReadAt& read, std::uint64_t offset, Structure& into)
{
    return MEMSWEEP_TRY(read(offset, {reinterpret_cast<std::uint8_t*>(&into), sizeof into})) == sizeof into;
}

// Those that hold something.
[[nodiscard]] base::Expected<std::vector<RecordedPiece>> pieces_in_slots(const ReadAt& read, const ImageFacts& facts);

// The words of a slot; false: it holds another chunk by now.
[[nodiscard]] base::Expected<bool> read_slot(const ReadAt& read, const RecordedPiece& piece,
                                             std::vector<std::uint8_t>& payload);

// Sorts them as they belong into a trace: by thread, and in it by time. Of a chunk that lies in two places, the one
// that came first stays first.
void sort_pieces(std::vector<RecordedPiece>& pieces);

// A process goes on while its file is looked through: a later chunk of a thread may be found, and an earlier one not.
// But a chunk begins when those before it in its thread are full. So of each thread all is there up to the last chunk
// that an earlier look, at the offsets `seen`, has found. In order.
[[nodiscard]] std::vector<RecordedPiece> without_gaps(const std::set<std::uint64_t>& seen,
                                                      std::vector<RecordedPiece> now);

// What may be taken of full chunks: those without gaps that go on where the trace ends, or begin a thread. In order.
// Those that stand in the trace are in it where an earlier look has found them: they need only be freed.
[[nodiscard]] std::vector<RecordedPiece> takeable(const std::set<std::uint64_t>& seen, std::vector<RecordedPiece> now,
                                                  StreamEnds ends);

}  // namespace memsweep::trace
