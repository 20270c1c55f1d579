// The moment at which stopped programs stand in their log, by what each of their threads has recorded: a trace that
// is read up to it has every event that was recorded then, and no other. By the clock it cannot be had: a thread is
// stamped once in 64 events.
//
// Whoever takes a cut has stopped all threads of its processes (SIGSTOP, ptrace(2)) and waited until they stand. What
// each thread has in the chunk that it writes is counted where it lies, in the mapped file; every chunk before is
// whole, and whatever begins later has a later clock. The cut holds for the trace that is made of the recording at
// any later time, also when its processes went on or were killed.
//
// In flight  a thread may stand between a real call and its event (an allocation is recorded after the call, a free
//            before it): at most one event of each thread, of a call that the program has not seen return. One whose
//            place was reserved and not written yet (a handler came in between) is taken when it is written.
//
// Cost     a system call a slot, and 20 ns an event of the chunks that are being written.
// Memory   some 40 bytes a thread, and one chunk.
// Errors   those of reading.
// Threads  one; memsweep may take full chunks out of the recording meanwhile.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "core/base/expected.hpp"
#include "core/trace/format/trace_layout.hpp"
#include "core/trace/recording.hpp"

namespace memsweep::trace {

// How far a thread has come in the chunk that it writes.
struct ThreadCut {
    std::uint32_t process{};  // as the trace calls it
    std::uint32_t thread{};
    std::uint64_t sequence{};  // the chunk's number in its stream
    std::uint64_t first_ticks{};
    std::uint64_t events{};  // of the chunk, up to the cut

    [[nodiscard]] bool is_in(const ChunkHeader& chunk) const noexcept
    {
        return chunk.process == process && chunk.thread == thread && chunk.sequence == sequence &&
               chunk.first_ticks == first_ticks;
    }
};

struct ExactCut {
    std::uint64_t ticks{};  // when it was taken, by the clock of the stamps
    std::set<std::uint32_t> processes;
    std::vector<ThreadCut> threads;
};

// Adds the process of an image: the last of it, where it became several programs. Its threads stand.
[[nodiscard]] base::Expected<void> add_to_cut(const RecordedImage& image, ExactCut& cut);

}  // namespace memsweep::trace
