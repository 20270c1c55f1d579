// An end mark in a trace says when the recorded program had done its work, before it freed its memory and ended. The
// mark has the position that each thread had reached in its log. If a trace has a mark, `end` in a command means this
// time.
//
// The threads of the program need not be stopped. If they run, their positions are read one after another, so the mark
// is not one instant.
//
// Memory   some 40 bytes per thread that is in the middle of a chunk, and one chunk.
// Errors   those of reading the recording. A damaged mark counts as no mark.
// Threads  one. Meanwhile memsweep may move full chunks from the recordings to the trace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/expected.hpp"
#include "core/trace/exact_cut.hpp"
#include "core/trace/recording.hpp"
#include "core/trace/trace_file.hpp"
#include "core/trace/trace_writer.hpp"

namespace memsweep::trace {

struct EndMark {
    std::string sign;  // the sign that the work was done, as given to --end-when
    ExactCut cut;
};

// Makes a mark from the last image (program) of each process that still runs. All events of a process that has ended
// are before the mark.
[[nodiscard]] base::Expected<EndMark> end_mark_of(const std::vector<RecordedImage>& images, const IsRunning& is_running,
                                                  std::string sign);

[[nodiscard]] base::Expected<void> put_end_mark(const TakeBytes& take, const EndMark& mark);
// The first mark of the trace; absent: it has none.
[[nodiscard]] std::optional<EndMark> find_end_mark(TraceFile& file);

}  // namespace memsweep::trace
