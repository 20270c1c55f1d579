// Translates and compresses the full chunks of a program's recordings, and writes them to the trace, while the program
// still runs. Therefore little of this work is left when the program has ended. The thread that works meanwhile uses
// only idle CPU time (SCHED_IDLE).
//
// Cost     20 ns per event; each recording is polled: every millisecond while it has full chunks, at growing intervals
//          of up to 20 ms while it has none.
// Memory   a LiveRecording for each of at most 64 processes, and the TraceProgress.
// Errors   none: if no thread can be made, or if it stops for lack of memory or disk space, the remaining chunks are
//          written after the program has ended.
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

    // Stops the thread. Returns what the trace contains so far.
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
    // Switches from the recording `before` to `path`, because the process has executed another program (execve(2)).
    base::Expected<void> follow(const std::string& before, const std::string& path, const std::stop_token& stop);
    // Polls the recordings that are due. Returns the time at which the next one is due.
    base::Expected<Clock::time_point> look(const std::stop_token& stop);

    std::string folder_;
    trace::TakeBytes take_;
    trace::TraceProgress progress_;
    std::map<std::string, Held> held_;  // the recordings that are polled, by path
    std::set<std::string> left_;  // paths of recordings that are not polled, and are written after the program's end
    Clock::time_point next_search_{};
    std::jthread thread_;
};

}  // namespace memsweep::app
