// Keeps the time of a recording while its processes run: ticks the clock that their recorders see
// (recording_layout.hpp), and notes when each process ended, since one that is killed cannot say that itself.
//
// Sources  inotify(7): IN_CLOSE_WRITE comes when the last mapping of a recorder's file goes, with its process or by
//          exec(3). So a child that was forked and has recorded nothing yet holds back its parent's end.
// Cost     200 wake-ups a second; for each process that ends, two looks at /proc and a write of 8 bytes.
// Memory   a page, and a name for each process that is just ending.
// Errors   none: without the file, inotify, a thread or memory, times are less exact, and ends are not known.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <stop_token>
#include <string>
#include <thread>

#include "core/sys/descriptor.hpp"

namespace memsweep::app {

class RecordingClock {
  public:
    // Call before the program starts.
    explicit RecordingClock(const std::string& folder);
    ~RecordingClock() { finish(); }
    RecordingClock(const RecordingClock&) = delete;
    RecordingClock& operator=(const RecordingClock&) = delete;

    // Ends the work; what is seen to end is in its file then (ImageFacts::seen_end_ticks). Waits 20 ms for processes
    // that are about to end.
    void finish();

  private:
    using Clock = std::chrono::steady_clock;
    struct Closed {
        std::uint64_t ticks{};
        Clock::time_point since{};
        Clock::time_point due{};  // when to look whether its process has ended
    };

    void show_clock();
    void work(const std::stop_token& stop);
    void take_closed();
    void settle_closed();
    void look_for_ends();
    [[nodiscard]] bool has_told(const std::string& name, const Closed& closed) const;

    std::string folder_;
    sys::UniqueFd watch_;
    std::uint32_t* shown_{};                // nullptr: there is no clock
    std::map<std::string, Closed> closed_;  // files whose processes may have ended
    std::jthread thread_;
};

}  // namespace memsweep::app
