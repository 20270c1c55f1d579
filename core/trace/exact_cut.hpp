// A cut marks a point in a trace: the time at which the recorded processes were stopped. It has the number of events
// that each thread had recorded by then. Reading a trace up to the cut gives exactly these events. Times could not
// separate them from later events, because a thread records the time only once in 64 events.
//
// Before taking a cut, stop all threads of the processes (SIGSTOP, ptrace(2)) and wait until they have stopped. For
// each thread, the events in its unfinished chunk are counted in the mapped file. All earlier chunks of the thread
// belong to the cut; later chunks have later times and do not. The cut remains valid for a trace that is made from the
// recording later, even if the processes have run on or were killed.
//
// In flight  a thread may stop between a call and the recording of its event: an allocation is recorded after the call,
//            a free before it. So for each thread, at most the event of one call that has not returned may be missing
//            or early. If a signal handler interrupted the recording, the place of an event may be reserved and still
//            empty. That event counts as recorded once it is written.
//
// Cost     a system call per slot (recording_layout.hpp), and 20 ns per event of the unfinished chunks.
// Memory   some 40 bytes per thread, and one chunk.
// Errors   those of reading the recording.
// Threads  one. Meanwhile memsweep may move full chunks from the recording to the trace.
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
    std::uint32_t process{};  // its number in the trace
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
    std::uint64_t ticks{};  // when the cut was taken, by the clock of the stamps
    std::set<std::uint32_t> processes;
    std::vector<ThreadCut> threads;
};

// Adds the process of an image, whose threads must be stopped. If the process has executed several programs, pass the
// image of the last one.
[[nodiscard]] base::Expected<void> add_to_cut(const RecordedImage& image, ExactCut& cut);

}  // namespace memsweep::trace
