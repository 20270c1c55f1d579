// The lives of recorded threads: when each thread begins and ends. Thread numbers are used again, so one number may
// stand for several threads, one after another. Each of these threads is one life.
//
// A first reading of the trace, survey(), finds the ends of the lives. A thread ends with its recorded exit, or with
// its last event if that comes after the exit. A thread without a recorded exit ends with its process. In a trace
// without exits, a thread ends with its last event.
//
// Units    events, by their number from 1; bytes.
// Cost     the survey costs a reading of the trace.
// Memory   some 100 bytes a thread.
// Threads  one.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "core/trace/event_selection.hpp"

namespace memsweep::trace {

using RecordedThread = std::pair<std::uint32_t, std::uint32_t>;  // process, thread

// Numbers the lives in the order of their first events.
class ThreadLives {
  public:
    // Returns the number of the life that the event's thread has now. Call with every event of a trace.
    std::uint32_t follow(const Event& event)
    {
        if (event.kind == EventKind::thread_start) {  // from here on, the thread's number stands for another life
            lives_.erase({event.process, event.other});
            last_ = none;
        }
        const RecordedThread thread{event.process, event.thread};
        if (thread == last_ && thread != none) {
            return last_life_;
        }
        const auto [place, is_new] = lives_.try_emplace(thread, count_);
        count_ += is_new ? 1U : 0U;
        last_ = thread;
        return last_life_ = place->second;
    }
    template <typename Visit>
    void each_of_process(std::uint32_t process, Visit visit) const
    {
        for (auto at = lives_.lower_bound({process, 0}); at != lives_.end() && at->first.first == process; ++at) {
            visit(at->second);
        }
    }

  private:
    static constexpr RecordedThread none{std::numeric_limits<std::uint32_t>::max(),
                                         std::numeric_limits<std::uint32_t>::max()};

    std::map<RecordedThread, std::uint32_t> lives_;
    std::uint32_t count_{};
    RecordedThread last_{none};
    std::uint32_t last_life_{};
};

struct ReplaySurvey {
    static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

    std::vector<std::uint64_t>
        ends;  // for each life, the number of its last event; `never`: it goes on until the last process ends
    std::uint64_t peak_live_bytes{};
};

// Whether a replay does something for an event of this kind.
[[nodiscard]] bool is_replayed(EventKind kind) noexcept;

// Reads the events to their end, and rewinds them. `is_cut`: the selection may end before the threads' exits.
[[nodiscard]] ReplaySurvey survey(SelectedEvents& events, bool is_cut);

}  // namespace memsweep::trace
