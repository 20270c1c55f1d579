// What recorders left behind, a file per process image (trace_layout.hpp), into one trace: chunks compressed, slots
// of processes that were killed included, processes and threads with their ends.
//
// Cost     20 ns an event.
// Memory   a header per chunk, and one chunk.
// Errors   invalid_input: a file is no recording, or of another version; and those of the taker of the bytes. A damaged
//          or half-written chunk is no error: it is left out and counted.
// Threads  one.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/trace/format/trace_layout.hpp"
#include "core/trace/trace_file.hpp"
#include "core/trace/trace_writer.hpp"

namespace memsweep::trace {

struct RecordedImage {
    ReadAt read;
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

[[nodiscard]] base::Expected<RecordedImage> open_image(ReadAt read, const std::string& name);

// In the order of their start. `is_running` says of which processes the end is not known yet.
[[nodiscard]] base::Expected<RecordingSummary> assemble(std::vector<RecordedImage> images, const ClockReading& now,
                                                        const std::function<bool(std::uint32_t)>& is_running,
                                                        const TakeBytes& take, Facts facts);

}  // namespace memsweep::trace
