// An end mark in a trace says when the recorded program had done its work, before the program freed its memory and
// ended. The mark says how many events each thread had recorded by then. If a trace has an end mark, the time `end` in
// a command line means this mark.
//
// The threads of the program need not be stopped when the mark is made. If they run, their positions are read one after
// another, so the mark does not stand for one instant.
//
// Memory   some 40 bytes per thread that is in the middle of a chunk, and one chunk.
// Errors   the errors of reading the recording. A damaged mark is skipped and counted as damage.
// Threads  one. During a call, another thread of memsweep may move full chunks from the recordings to the trace.
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
    std::string sign;  // the sign of the work's end, as given to --end-when
    ExactCut cut;
};

// Makes a mark from the last image (program) of each process that is still running. If a process has already ended, all
// of its events come before the mark.
[[nodiscard]] base::Expected<EndMark> end_mark_of(const std::vector<RecordedImage>& images, const IsRunning& is_running,
                                                  std::string sign);

[[nodiscard]] base::Expected<void> put_end_mark(const TakeBytes& take, const EndMark& mark);
// Returns the trace's first mark that is not damaged. Absent: there is none.
[[nodiscard]] std::optional<EndMark> find_end_mark(TraceFile& file);

}  // namespace memsweep::trace
