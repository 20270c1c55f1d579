// The moment at which a recorded program had done its work, which may be long before it ends: a mark of the trace, by
// each thread's place in its log. `end` of a trace that has one is that moment.
//
// While threads run on, the mark is where each of them stood when it was looked at, one after the other.
//
// Memory   some 40 bytes a thread that is in the middle of a chunk, and one chunk.
// Errors   those of reading. A mark that is damaged is none.
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

// Of the processes that run, the last program that each has become. Of one that has ended all is before the mark.
[[nodiscard]] base::Expected<EndMark> end_mark_of(const std::vector<RecordedImage>& images, const IsRunning& is_running,
                                                  std::string sign);

[[nodiscard]] base::Expected<void> put_end_mark(const TakeBytes& take, const EndMark& mark);
// The first of the trace.
[[nodiscard]] std::optional<EndMark> find_end_mark(TraceFile& file);

}  // namespace memsweep::trace
