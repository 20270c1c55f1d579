// Translates and compresses full chunks of recordings and writes them to the trace while the command of `memsweep
// record` runs, on idle processors (SCHED_IDLE). So little is left to do when the command has ended.
//
// Cost     20 ns an event; a look at a recording every 20 ms if it is at rest, every millisecond if it fills its slots.
// Memory   as LiveRecording, for at most 64 processes, and TraceProgress.
// Errors   none while it runs: without memory, a thread or room on the disk it stops, and the rest is left to the end.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <thread>

#include "app/commands/growing_trace.hpp"
#include "core/base/expected.hpp"
#include "core/trace/live_recording.hpp"
#include "core/trace/trace_progress.hpp"
#include "core/trace/trace_writer.hpp"

namespace memsweep::app {

class SealingMeanwhile {
  public:
    SealingMeanwhile(std::string folder, GrowingTrace& trace);

    // Ends the work; returns the contents of the trace so far.
    [[nodiscard]] trace::TraceProgress finish();

  private:
    using Clock = std::chrono::steady_clock;
    struct Held {
        trace::LiveRecording recording;
        Clock::duration pause{};
        Clock::time_point due{};
    };

    void seal(const std::stop_token& stop);
    base::Expected<void> find_recordings(const std::stop_token& stop);
    void hold(const std::string& path);
    // A process goes on in another program: from the held recording to `path`.
    base::Expected<void> follow(const std::string& before, const std::string& path, const std::stop_token& stop);
    // Looks at the recordings; returns when to look again.
    base::Expected<Clock::time_point> look(const std::stop_token& stop);

    std::string folder_;
    trace::TakeBytes take_;
    trace::TraceProgress progress_;
    std::map<std::string, Held> held_;  // by path
    std::set<std::string> left_;        // paths of those that are left to the end
    Clock::time_point next_search_{};
    std::jthread thread_;
};

}  // namespace memsweep::app
