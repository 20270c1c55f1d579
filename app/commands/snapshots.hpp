// Takes snapshots of a program that is recorded, and the mark of the end of its work, while the program is stopped.
// They are kept in the folder of the recording, and put into its trace when that is made. So a full disk or a kill
// costs only the snapshot that was being written.
//
// Snapshots are of the command's own process, whatever it becomes by exec, and not of processes that it starts.
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

// Marks this moment in a recording. The program may be running, be stopped, or have ended.
[[nodiscard]] base::Expected<void> mark_end_of_work(const std::string& folder, const std::string& sign);

struct SnapshotChoice {
    bool at_end{};
    std::chrono::nanoseconds every{};  // 0: at no other time
    [[nodiscard]] bool is_on() const noexcept { return at_end || every.count() != 0; }
};

class SnapshotsMeanwhile {
  public:
    SnapshotsMeanwhile(RecordedBy recorded, const SnapshotChoice& choice)
        : recorded_{std::move(recorded)}, choice_{choice}
    {
    }

    // Valid as long as this object. `pause`: the longest time between two calls of its `meanwhile`.
    [[nodiscard]] sys::ProgramStops stops(std::chrono::nanoseconds pause);
    // Takes the snapshot at the end now, instead of at the program's exit.
    void take_end(const sys::StoppedMoment& moment);
    // Call once the program has ended. Afterwards problem() is the first error, and lost() the number of lost
    // snapshots.
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
    std::optional<trace::Snapshot> waiting_;  // is written when the program goes on
    std::uint64_t number_{};
    bool has_end_{};
    std::uint64_t lost_{};
    std::optional<base::Error> problem_;
};

// Puts what lies in those files into a trace, as far as it can be read.
[[nodiscard]] base::Expected<void> put_snapshots(const std::vector<std::string>& files, const trace::TakeBytes& take);

}  // namespace memsweep::app
