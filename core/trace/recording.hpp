// What recorders left behind, a file per process image (trace_layout.hpp), into one trace: chunks compressed, slots
// of processes that were killed included, processes and threads with their ends.
//
// Cost     20 ns an event.
// Memory   a header per chunk, and one chunk. One recording is open at a time: there may be more than descriptors.
// Errors   invalid_input: a file is no recording, or of another version; and those of reading, and of the taker of the
//          bytes. A damaged or half-written chunk is no error: it is left out and counted.
// Threads  one.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/trace/format/trace_layout.hpp"
#include "core/trace/trace_file.hpp"
#include "core/trace/trace_writer.hpp"

namespace memsweep::trace {

using OpenRecording = std::function<base::Expected<ReadAt>()>;

struct RecordedImage {
    OpenRecording open;
    std::string name;
    ImageFacts facts;
};

// The clock of the stamps and CLOCK_MONOTONIC read together, after the recording: how fast the former is.
struct ClockReading {
    std::uint64_t ticks{};
    std::uint64_t nanoseconds{};
};
[[nodiscard]] ClockReading read_clocks() noexcept;

struct RecordingSummary {
    std::uint64_t images{};
    std::uint64_t processes{};
    std::uint64_t events{};
    std::uint64_t lost_events{};
    std::uint64_t damaged_chunks{};
    std::uint64_t still_running{};    // processes, recorded up to now
    std::uint64_t foreign_mallocs{};  // images of programs with their own malloc
    int stopped_errno{};              // why a process could not go on recording; 0: all could
};

// Absent where the process ended before it had written the headers: then it recorded nothing.
[[nodiscard]] base::Expected<std::optional<RecordedImage>> find_image(OpenRecording open, const std::string& name);

// In the order of their start. `is_running` says of which processes the end is not known yet.
[[nodiscard]] base::Expected<RecordingSummary> assemble(std::vector<RecordedImage> images, const ClockReading& now,
                                                        const std::function<bool(std::uint32_t)>& is_running,
                                                        const TakeBytes& take, Facts facts);

}  // namespace memsweep::trace
