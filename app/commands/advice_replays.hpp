// Records the program that `advise` is asked about. Replays the recording to see how much memory allocators hold under
// their settings.
//
// If there are several processes, the one that had the most bytes live is replayed. If the command says when its work
// is done, the replay ends then, to within the 64 events of a thread that one stamp covers.
//
// Units    bytes.
// Cost     recording: a run of the program; one reading of the trace, and one compilation, for all replays.
// Memory   of the compiled trace, and in another process what the program held.
// Errors   those of the recording, of reading and compiling it; budget: this machine has too little memory left, or the
//          time is up; those of replay_residence.
// Threads  one, beside that which seals the recording.
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
    // `rest`: how long the program rests before its memory is read.
    AdviceReplays(std::chrono::nanoseconds rest, const sys::StopSignals& signals);

    // Runs the program, and returns whose malloc served it. `patience`: the time left for the run and for making its
    // trace.
    [[nodiscard]] base::Expected<trace::CountedTree> record(const engine::CommandExecutor& commands,
                                                            const engine::CompiledCase& compiled,
                                                            const engine::RunLimits& limits,
                                                            std::chrono::nanoseconds patience);

    // Whose malloc served the program; known even if the recording was cut off.
    [[nodiscard]] const trace::CountedTree& seen() const { return seen_; }

    // Call after a recording and before replays of it. `patience`: the time left for reading the trace; compiling takes
    // a part of that time again.
    [[nodiscard]] base::Expected<void> compile(std::chrono::nanoseconds patience);

    // `patience`: the time left for one replay.
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
    std::uint64_t end_ticks_{};  // of its work; 0: its exit
    std::size_t processes_{};
    std::uint32_t threads_{};
    engine::PackedTrace packed_;
    std::uint32_t replays_{};
};

}  // namespace memsweep::app
