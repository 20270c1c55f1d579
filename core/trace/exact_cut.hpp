// A cut marks a point in a trace: the time at which the recorded processes were stopped. It has the number of events
// that each thread had recorded by then. Reading a trace up to the cut gives exactly these events. The times of events
// could not separate them from later events, because a thread records the time only at every 64th event.
//
// Before taking a cut, stop all threads of the processes (SIGSTOP, ptrace(2)) and wait until they have stopped. For
// each thread, the events in its unfinished chunk are counted in the mapped file. All earlier chunks of the thread
// belong to the cut. Later chunks, which have later times, do not belong to it. The cut remains valid for a trace that
// is made from the recording later, even if the processes have run on or were killed.
//
// In flight  a thread may be stopped in the middle of a call. An allocation is recorded at the end of its call, so its
//            event may be missing. A free is recorded at the beginning of its call, so its event may be early. This
//            concerns at most one call per thread, the call that has not returned. If a signal handler has interrupted
//            the recording of an event, the event's words in the chunk may still be empty. This event counts as
//            recorded, and is in the cut after the thread has written it.
//
// Cost     a system call per slot (recording_layout.hpp), and 20 ns per event of the unfinished chunks.
// Memory   some 40 bytes per thread, and one chunk.
// Errors   the errors of reading the recording.
// Threads  one. During a call, another thread of memsweep may move full chunks from the recording to the trace.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "core/base/expected.hpp"
#include "core/trace/format/trace_layout.hpp"
#include "core/trace/recording.hpp"

namespace memsweep::trace {

// The position of a thread in its unfinished chunk.
struct ThreadCut {
    std::uint32_t process{};  // the process's number in the trace
    std::uint32_t thread{};
    std::uint64_t sequence{};     // the chunk's number within its thread
    std::uint64_t first_ticks{};  // first_ticks of the chunk's header
    std::uint64_t events{};       // how many events of the chunk belong to the cut

    [[nodiscard]] bool is_in(const ChunkHeader& chunk) const noexcept
    {
        return chunk.process == process && chunk.thread == thread && chunk.sequence == sequence &&
               chunk.first_ticks == first_ticks;
    }
};

struct ExactCut {
    std::uint64_t ticks{};  // when the cut was made, by the clock of the trace's stamps
    std::set<std::uint32_t> processes;
    std::vector<ThreadCut> threads;
};

// Adds the process of `image` to the cut. All threads of the process must be stopped. If the process has executed
// several programs, pass the image of the last one.
[[nodiscard]] base::Expected<void> add_to_cut(const RecordedImage& image, ExactCut& cut);

}  // namespace memsweep::trace
