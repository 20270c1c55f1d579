// A mark in a trace: the moment at which the recorded program had done its work, which may be long before it ends. The
// mark is each thread's place in its log. If a trace has a mark, its `end` is that moment.
//
// If the threads run on meanwhile, they are looked at one after the other: the mark is where each stood then.
//
// Memory   some 40 bytes a thread that is in the middle of a chunk, and one chunk.
// Errors   errors of reading are passed on. A damaged mark counts as none.
// Threads  one; memsweep may take full chunks out of the recordings meanwhile.
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
    std::string sign;  // by which it was known, as --end-when says it
    ExactCut cut;
};

// Marks the last program of each process that runs. If a process has ended, all its events are before the mark.
[[nodiscard]] base::Expected<EndMark> end_mark_of(const std::vector<RecordedImage>& images, const IsRunning& is_running,
                                                  std::string sign);

[[nodiscard]] base::Expected<void> put_end_mark(const TakeBytes& take, const EndMark& mark);
// The first mark of the trace; empty: it has none.
[[nodiscard]] std::optional<EndMark> find_end_mark(TraceFile& file);

}  // namespace memsweep::trace
