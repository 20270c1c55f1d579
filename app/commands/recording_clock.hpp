// Keeps the time of a recording while its processes run. It advances the shared clock that the recorders read
// (recording_layout.hpp). It also notes the time at which each process ended, because a killed process cannot note its
// own end.
//
// Sources  inotify(7): IN_CLOSE_WRITE arrives when the last mapping of a recorder's file is removed, that is, when the
//          process with the mapping ends or calls exec(3). A forked child that has recorded nothing yet still maps its
//          parent's file. So the parent's end is noticed only after that child's end or first event.
// Cost     200 wake-ups a second; for each process that ends, two checks in /proc and a write of 8 bytes.
// Memory   a page; also a file name for each process that is about to end.
// Errors   none: if the clock's file or the thread cannot be made, times are less exact; without inotify, the
//          thread or enough memory, the ends of processes are not known.
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

    // Stops the thread. Afterwards, for each process whose end was seen, the recorder's file holds the time of that end
    // (ImageFacts::seen_end_ticks). Waits up to 20 ms for processes that are about to end.
    void finish();

  private:
    using Clock = std::chrono::steady_clock;
    struct Closed {
        std::uint64_t ticks{};
        Clock::time_point since{};
        Clock::time_point due{};  // when to check next whether its process has ended
    };

    void show_clock();
    void work(const std::stop_token& stop);
    void take_closed();
    void settle_closed();
    void look_for_ends();
    [[nodiscard]] bool has_told(const std::string& name, const Closed& closed) const;

    std::string folder_;
    sys::UniqueFd watch_;
    std::uint32_t* shown_{};                // the shared clock; nullptr: it could not be made
    std::map<std::string, Closed> closed_;  // files whose processes may have ended
    std::jthread thread_;
};

}  // namespace memsweep::app
