// Takes snapshots of a recorded program while the program is stopped, and writes a mark file that says when the
// program's work was done. Each snapshot is a file in the folder of the recording; it is copied into the trace at the
// end. So if the disk is full or memsweep is killed, only the snapshot that was being written is lost.
//
// Snapshots show only the command's own process, even after it has executed another program (execve(2)). They never
// show its child processes.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/commands/end_snapshot.hpp"
#include "core/base/expected.hpp"
#include "core/sys/stopped_end.hpp"
#include "core/trace/snapshot.hpp"
#include "core/trace/trace_writer.hpp"

namespace memsweep::app {

inline constexpr const char* snapshot_ending = ".snapshot";
inline constexpr const char* mark_ending = ".mark";

// Marks the present moment in a recording as the end of the program's work. The program may be running, stopped or
// ended.
[[nodiscard]] base::Expected<void> mark_end_of_work(const std::string& folder, const std::string& sign);

struct SnapshotChoice {
    bool at_end{};
    std::chrono::nanoseconds every{};  // the interval of further snapshots; 0: none
    [[nodiscard]] bool is_on() const noexcept { return at_end || every.count() != 0; }
};

class SnapshotsMeanwhile {
  public:
    SnapshotsMeanwhile(RecordedBy recorded, const SnapshotChoice& choice)
        : recorded_{std::move(recorded)}, choice_{choice}
    {
    }

    // Returns the callbacks with which the program must be run. They are valid as long as this object exists. `pause`:
    // the longest time between two calls of ProgramStops::meanwhile.
    [[nodiscard]] sys::ProgramStops stops(std::chrono::nanoseconds pause);
    // Takes the snapshot of the end now instead of at the program's exit.
    void take_end(const sys::StoppedMoment& moment);
    // Call after the program has ended. If the last snapshot is not written yet, writes it. Afterwards problem()
    // returns the first error, and lost() the number of snapshots that could not be taken or written.
    void finish() { write_waiting(); }
    [[nodiscard]] const std::optional<base::Error>& problem() const noexcept { return problem_; }
    [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }

  private:
    using Clock = std::chrono::steady_clock;
    void take(pid_t process, pid_t thread, trace::SnapshotAt at, Clock::time_point since);
    void write_waiting();

    RecordedBy recorded_;
    SnapshotChoice choice_;
    Clock::time_point due_;
    std::optional<trace::Snapshot> waiting_;  // not written yet: it is written after the program runs again
    std::uint64_t number_{};
    bool has_end_{};
    std::uint64_t lost_{};
    std::optional<base::Error> problem_;
};

// Copies the chunks of these files into a trace. Skips a file that cannot be read, and the rest of a file after a
// damaged chunk.
[[nodiscard]] base::Expected<void> put_snapshots(const std::vector<std::string>& files, const trace::TakeBytes& take);

}  // namespace memsweep::app
