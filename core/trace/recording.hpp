// What recorders left behind, a file per process image (trace_layout.hpp), into one trace: chunks compressed, slots
// of processes that were killed included, processes and threads with their ends.
//
// Cost     20 ns an event, which SealedAhead spends while the processes run.
// Memory   a header per chunk, one chunk, and what was sealed ahead. One recording is open at a time: there may be more
// than descriptors. Errors   invalid_input: a file is no recording, or of another version; and those of reading, and of
// the taker of the
//          bytes. A damaged or half-written chunk is no error: it is left out and counted.
// Threads  one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
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

// A full chunk as it will stand in the trace.
struct RecordedChunk {
    SealedChunk chunk;
    bool damaged{};  // its events end before its payload does
};

// Full chunks of recordings whose processes run on, sealed meanwhile: they never change. What is not sealed ahead is
// sealed when the recordings are assembled.
//
// Cost     20 ns an event; a look at a recording that has not grown reads 64 bytes.
// Memory   the sealed chunks, some 2 bytes an event; no more are kept than `most_bytes`.
// Errors   none: what cannot be read is left to the assembly.
// Threads  one at a time.
class SealedAhead {
  public:
    static constexpr std::size_t usual_most_bytes = 256U << 20U;

    explicit SealedAhead(std::size_t most_bytes = usual_most_bytes) : most_bytes_{most_bytes} {}

    // The chunks of that recording that have become full since the last call. Ends early when asked to. Returns whether
    // there was one.
    bool go_on(const OpenRecording& open, const std::string& name, const std::stop_token& stop);
    [[nodiscard]] bool is_full() const noexcept { return bytes_ >= most_bytes_; }

    // nullptr: not sealed ahead.
    [[nodiscard]] const RecordedChunk* find(const std::string& name, std::uint64_t offset) const;

  private:
    struct Recording {
        std::uint32_t process{};
        std::uint64_t next_offset{};                    // 0: its headers have not been seen
        std::map<std::uint64_t, RecordedChunk> chunks;  // by offset
    };

    std::size_t most_bytes_;
    std::size_t bytes_{};
    std::map<std::string, Recording> recordings_;
};

// In the order of their start. `is_running` says of which processes the end is not known yet.
[[nodiscard]] base::Expected<RecordingSummary> assemble(std::vector<RecordedImage> images, const ClockReading& now,
                                                        const std::function<bool(std::uint32_t)>& is_running,
                                                        const TakeBytes& take, Facts facts,
                                                        const SealedAhead& ahead = SealedAhead{});

}  // namespace memsweep::trace
