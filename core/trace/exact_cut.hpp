// Cuts a trace at the moment at which programs were stopped, by what each of their threads had recorded. A trace that
// is read up to the cut has every event that was recorded by then, and no other. The clock could not do that, because a
// thread is stamped once in 64 events.
//
// Before taking a cut, stop all threads of the processes (SIGSTOP, ptrace(2)) and wait until they are stopped. Each
// thread's events in the chunk that it writes are counted where they lie, in the mapped file. Every chunk before is
// whole, and every later chunk has a later clock. The cut stays valid for a trace made of the recording at any later
// time, even if the processes went on or were killed.
//
// In flight  a thread may stand between a real call and its event: an allocation is recorded after the call, a free
//            before it. That is at most one event of each thread, of a call that the program has not seen return. If a
//            handler came in between, an event's place may be reserved and not written yet. Such an event is taken when
//            it is written.
//
// Cost     a system call a slot, and 20 ns an event of the chunks that are being written.
// Memory   some 40 bytes a thread, and one chunk.
// Errors   errors of reading are passed on.
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

// Adds the process of an image. Its threads must be stopped. If the process became several programs, give the last
// one's image.
[[nodiscard]] base::Expected<void> add_to_cut(const RecordedImage& image, ExactCut& cut);

}  // namespace memsweep::trace
