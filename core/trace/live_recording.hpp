// Moves full chunks from the recording of a running process into a trace. The slots of these chunks become free again.
//
// Cost     look() reads the header of each slot that is in use, and takes 20 ns for each event that it moves.
// Memory   64 KiB, and a header for each chunk that was found but not moved yet.
// Errors   errors of `take` are returned. Some chunks stay in the recording until the process has ended: chunks that
//          cannot be read, and chunks that lie behind a chunk that never becomes complete.
// Threads  one at a time. Meanwhile the process may write to its recording.
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
    // Opens the recording. Returns nullopt if the process has not written the headers of the file yet.
    [[nodiscard]] static base::Expected<std::optional<LiveRecording>> open(ReadWriteAt file, const std::string& name);

    // Returns the facts as they were when the recording was opened.
    [[nodiscard]] const ImageFacts& facts() const noexcept { return facts_; }

    // Moves the chunks that are full now. Ends early if `stop` requests it. Returns whether it found a full chunk: if
    // so, more chunks may soon be full.
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
    std::set<std::uint64_t> seen_;         // offsets of the slots that were full at the last search of the slots
    std::vector<RecordedPiece> appended_;  // chunks that the process has appended to the file, not moved yet
    std::uint64_t walked_to_;              // all appended chunks before this offset are complete
    std::uint64_t seen_to_;                // the end of the appended chunks, at the last search of the slots
    std::vector<std::uint8_t> payload_;    // of the chunk that is being moved
};

}  // namespace memsweep::trace
