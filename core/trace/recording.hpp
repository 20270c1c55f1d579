// Puts the files that recorders left behind, one per process image (recording_layout.hpp), into one trace. Compresses
// chunks, includes the slots of killed processes, and adds the ends of processes and threads. The trace may already
// have most chunks: live_recording.hpp takes them while the processes run.
//
// Cost     20 ns an event that is not in the trace yet.
// Memory   one recording's chunk headers, and one chunk. Only one recording is open at a time, because there may be
//          more recordings than descriptors.
// Errors   invalid_input: a file is no recording, or of another version. Errors of reading and of `take` are passed on.
//          A damaged or half-written chunk is no error: it is left out and counted.
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
    OpenRecording open_stacks{};  // opens the file of its call stacks; empty: there is none
};

// Returns the last part of the executable's path; empty: not known.
[[nodiscard]] std::string program_of(const RecordedImage& image);

// The clock of the stamps and CLOCK_MONOTONIC, read at the same time after the recording. Together they give the
// frequency of the stamps' clock.
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
    std::uint64_t still_running{};  // processes that still run; the trace has what they recorded up to now
    // a process may hold unrecorded blocks; the trace must be read to tell (unseen_blocks.hpp)
    bool may_have_unseen_blocks{};
    int stopped_errno{};          // why a process could not go on recording; 0: all could
    std::uint64_t lost_stacks{};  // events that should have a call stack, but have none
    int stacks_errno{};           // why a process could keep no stacks, or no more of them; 0: all could keep them
};

// Opens a recording and reads its facts. Returns nullopt if the process has not written the headers, and so has
// recorded nothing.
[[nodiscard]] base::Expected<std::optional<RecordedImage>> find_image(OpenRecording open, const std::string& name);

using IsRunning = std::function<bool(const ImageFacts&)>;  // whether the image's process still runs

// Makes the header of a trace of these images, and sorts the images by their start. There must be at least one image.
[[nodiscard]] FileHeader trace_header(std::vector<RecordedImage>& images, const ClockReading& now);

// Whether `image` has ended because `next` has begun under the same process number: in the same process, or in a later
// process that reuses the number. False if both may be alive, in different PID namespaces.
[[nodiscard]] bool is_over(const RecordedImage& image, const RecordedImage& next) noexcept;
// Writes those chunks of `image` that the trace lacks, and the image's end. The image must be over (is_over()).
// Afterwards, chunks of `next` may follow in the trace. False: `stop` was requested before all was written.
[[nodiscard]] base::Expected<bool> put_followed(const RecordedImage& image, const RecordedImage& next,
                                                const TakeBytes& take, TraceProgress& progress,
                                                const std::stop_token& stop);

// Writes what the trace still lacks of the images: their chunks and ends, in the order of trace_header(). Writes facts
// before and after them.
[[nodiscard]] base::Expected<RecordingSummary> put_rest(const std::vector<RecordedImage>& images,
                                                        const IsRunning& is_running, const TakeBytes& take, Facts facts,
                                                        TraceProgress progress);

// Writes a whole trace from images, and from an unfinished trace if there is one.
[[nodiscard]] base::Expected<RecordingSummary> assemble(std::vector<RecordedImage> images, const ClockReading& now,
                                                        const IsRunning& is_running, const TakeBytes& take, Facts facts,
                                                        const std::optional<UnfinishedTrace>& unfinished = {});

}  // namespace memsweep::trace
