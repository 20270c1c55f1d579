// Reads the recording of a running process: its full chunks go into a trace, and their slots become free again.
//
// Cost     a look reads the header of each slot in use; a chunk that it takes costs 20 ns an event.
// Memory   64 KiB, and a header for each chunk that waits.
// Errors   errors of the function that takes the bytes are passed on. A chunk that cannot be read, or lies behind one
//          that is never written whole, is left to the end.
// Threads  one at a time; the process writes meanwhile.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/expected.hpp"
#include "core/trace/recorded_pieces.hpp"
#include "core/trace/recording.hpp"
#include "core/trace/trace_file.hpp"
#include "core/trace/trace_progress.hpp"
#include "core/trace/trace_writer.hpp"

namespace memsweep::trace {

class LiveRecording {
  public:
    // Absent if the process has not written the headers yet.
    [[nodiscard]] static base::Expected<std::optional<LiveRecording>> open(ReadWriteAt file, const std::string& name);

    // The facts as they were when the recording was opened.
    [[nodiscard]] const ImageFacts& facts() const noexcept { return facts_; }

    // Ends early when asked to. Returns whether something was found: then there may soon be more.
    [[nodiscard]] base::Expected<bool> look(const TakeBytes& take, TraceProgress& progress,
                                            const std::stop_token& stop);

  private:
    LiveRecording(ReadWriteAt file, const ImageFacts& facts, std::uint64_t appended_at)
        : file_{std::move(file)}, facts_{facts}, walked_to_{appended_at}, seen_to_{appended_at}
    {
    }
    base::Expected<std::vector<RecordedPiece>> full_slots(ImageFacts& facts) const;
    base::Expected<bool> see();
    void walk(const std::stop_token& stop);
    base::Expected<bool> read_words(const RecordedPiece& piece, std::vector<std::uint8_t>& payload) const;
    base::Expected<bool> take_all(const std::vector<RecordedPiece>& pieces, const TakeBytes& take,
                                  TraceProgress& progress, const std::stop_token& stop);

    ReadWriteAt file_;
    ImageFacts facts_;
    std::set<std::uint64_t> seen_;         // slots that an earlier look has found full
    std::vector<RecordedPiece> appended_;  // chunks at the end of the file that wait
    std::uint64_t walked_to_;              // chunks are whole up to here
    std::uint64_t seen_to_;                // chunks had their places up to here when the slots had been seen
    std::vector<std::uint8_t> payload_;    // the chunk that is being taken
};

}  // namespace memsweep::trace
