// Records the program that `advise` is asked about, and replays the recording under other allocators and settings. Each
// replay shows how much memory the program would hold under one of these allocators or settings.
//
// If the program has several processes, the one with the highest peak of live bytes is replayed. If the command signals
// that its work is done, the replay ends at the moment of this signal. The moment is exact to within 64 events of each
// thread, because one time stamp covers 64 events.
//
// Units    bytes.
// Cost     one recorded run of the program; compile() reads the trace up to three times, however many replays follow.
// Memory   the compiled trace, in this process. Each replay has a process of its own, which takes as much memory as the
//          program held.
// Errors   those of recording, of reading and compiling the trace, and of replay_residence; budget: this machine has
//          too little free memory, or the time is up.
// Threads  only one may use the object. While the program is recorded, the object runs two threads of its own, for the
//          clock and the trace.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/expected.hpp"
#include "core/engine/command/command_executor.hpp"
#include "core/engine/steps/heap_replay.hpp"
#include "core/engine/steps/worker_executor.hpp"
#include "core/model/allocator.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/left_behind.hpp"
#include "core/sys/signals.hpp"
#include "core/trace/counts.hpp"
#include "core/trace/trace_reader.hpp"

namespace memsweep::app {

class AdviceReplays {
  public:
    // `rest`: how long each replay idles at its end before its memory is read.
    AdviceReplays(std::chrono::nanoseconds rest, const sys::StopSignals& signals);

    // Runs the program one time, and returns which malloc each of its programs used. `patience`: the time left for the
    // run and for making its trace.
    [[nodiscard]] base::Expected<trace::CountedTree> record(const engine::CommandExecutor& commands,
                                                            const engine::CompiledCase& compiled,
                                                            const engine::RunLimits& limits,
                                                            std::chrono::nanoseconds patience);

    // Returns what record() found out about mallocs; available even if record() failed afterwards.
    [[nodiscard]] const trace::CountedTree& seen() const { return seen_; }

    // Call after record() and before on(). `patience`: the time left for reading and compiling the trace.
    [[nodiscard]] base::Expected<void> compile(std::chrono::nanoseconds patience);

    // Replays the trace under the allocator. `patience`: the time left for one replay.
    [[nodiscard]] base::Expected<engine::ReplayResidence> on(const model::AllocatorSpec& allocator,
                                                             std::chrono::nanoseconds patience);

    [[nodiscard]] std::uint32_t replays() const { return replays_; }

  private:
    [[nodiscard]] base::Expected<trace::TraceReader> open_until(std::chrono::nanoseconds end) const;
    [[nodiscard]] base::Expected<void> in_time(std::chrono::nanoseconds end) const;
    [[nodiscard]] base::Expected<std::uint64_t> events_of_work(std::chrono::nanoseconds end) const;

    std::chrono::nanoseconds rest_;
    sys::SystemClock clock_;
    engine::WorkerExecutor workers_;
    std::optional<sys::PassingFolder> folder_;
    trace::CountedTree seen_;
    std::uint64_t end_ticks_{};  // the end of the program's work; 0: its exit
    std::size_t processes_{};
    std::uint32_t threads_{};
    engine::PackedTrace packed_;
    std::uint32_t replays_{};
};

}  // namespace memsweep::app
