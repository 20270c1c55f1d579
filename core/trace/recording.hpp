// Puts the files that recorders left behind, one per process image (recording_layout.hpp), into one trace. Chunks are
// compressed, slots of killed processes are included, and processes and threads get their ends. Most of it may already
// be in the trace, taken while the processes ran (live_recording.hpp).
//
// Cost     20 ns an event that is not in the trace yet.
// Memory   a header per chunk of one recording, and one chunk. One recording is open at a time, because there may be
//          more recordings than descriptors.
// Errors   invalid_input: a file is no recording, or of another version. Errors of reading, and of the function that
//          takes the bytes, are passed on. A damaged or half-written chunk is no error: it is left out and counted.
// Threads  one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/trace/format/recording_layout.hpp"
#include "core/trace/trace_file.hpp"
#include "core/trace/trace_progress.hpp"
#include "core/trace/trace_writer.hpp"

namespace memsweep::trace {

using OpenRecording = std::function<base::Expected<ReadAt>()>;

struct RecordedImage {
    OpenRecording open;
    std::string name;
    ImageFacts facts;
    OpenRecording open_stacks{};  // its call stacks; empty: there are none
};

// The last part of the executable's path; empty: not known.
[[nodiscard]] std::string program_of(const RecordedImage& image);

// The clock of the stamps and CLOCK_MONOTONIC, read together after the recording. They tell how fast the former is.
struct ClockReading {
    std::uint64_t ticks{};
    std::uint64_t nanoseconds{};
};
[[nodiscard]] ClockReading read_clocks() noexcept;

struct RecordingSummary {
    std::uint64_t processes{};
    std::uint64_t events{};
    std::uint64_t lost_events{};
    std::uint64_t damaged_chunks{};
    std::uint64_t still_running{};  // processes, recorded up to now
    bool may_have_unseen_blocks{};  // a process may hold more than its events explain: only reading its blocks tells
    int stopped_errno{};            // why a process could not go on recording; 0: all could
    std::uint64_t lost_stacks{};    // events that should have a call stack, and have none
    int stacks_errno{};             // why a process could not keep stacks, or no more of them; 0: all could
};

// Absent: the process ended before it had written the headers, so it recorded nothing.
[[nodiscard]] base::Expected<std::optional<RecordedImage>> find_image(OpenRecording open, const std::string& name);

using IsRunning = std::function<bool(const ImageFacts&)>;  // whether its process runs, so that its end is not known yet

// Makes the header of a trace of these images, and sorts them by their start. There is at least one.
[[nodiscard]] FileHeader trace_header(std::vector<RecordedImage>& images, const ClockReading& now);

// True if `next` has begun in the image's process, or in a later process of the same number. False if it may be another
// process, which lives at the same time in a namespace of its own.
[[nodiscard]] bool is_over(const RecordedImage& image, const RecordedImage& next) noexcept;
// Writes the chunks of an image that is over, as far as the trace lacks them, and its end. After that, chunks of `next`
// may follow. False: it was asked to stop before all was written.
[[nodiscard]] base::Expected<bool> put_followed(const RecordedImage& image, const RecordedImage& next,
                                                const TakeBytes& take, TraceProgress& progress,
                                                const std::stop_token& stop);

// Writes what the trace lacks of the images, in the order of trace_header(): their chunks and ends, with facts before
// and after them.
[[nodiscard]] base::Expected<RecordingSummary> put_rest(const std::vector<RecordedImage>& images,
                                                        const IsRunning& is_running, const TakeBytes& take, Facts facts,
                                                        TraceProgress progress);

// Writes a whole trace of images and of an unfinished trace.
[[nodiscard]] base::Expected<RecordingSummary> assemble(std::vector<RecordedImage> images, const ClockReading& now,
                                                        const IsRunning& is_running, const TakeBytes& take, Facts facts,
                                                        const std::optional<UnfinishedTrace>& unfinished = {});

}  // namespace memsweep::trace
