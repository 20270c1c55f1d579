// Runs one repetition of a compiled case somewhere, and says how it went.
//
// Implementations  WorkerExecutor: a worker process, fresh per repetition or kept (isolation none);
//                  CommandExecutor: a foreign program;
//                  InProcessExecutor: the calling process, for tests and debuggers;
//                  tests/support: a fake with invented times.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine/records.hpp"
#include "core/model/report.hpp"
#include "core/sys/hardware_counters.hpp"
#include "core/trace/counts.hpp"
#include "core/trace/replay/call_times.hpp"

namespace memsweep::engine {

struct Program;
struct RunRegion;

enum class Ending {
    finished,
    refused,  // the memory resource refused an allocation, or a transfer failed for good
    unmet,    // the machine lacks what a step needs
    crashed,  // the worker died
    timed_out,
    interrupted,  // the user asked to stop
    broken,       // the harness itself failed
};

// What a foreign program used, beside what every repetition's record holds.
struct CommandUse {
    std::chrono::nanoseconds user_time{};
    std::chrono::nanoseconds system_time{};
    std::uint64_t context_switches{};
    std::uint64_t read_bytes{};
    std::uint64_t written_bytes{};
    std::optional<double> pressure_seconds;
    sys::HardwareCounts hardware;
    std::uint64_t left_processes{};  // that it left behind, and that were killed
};

struct CommandRecord : CommandUse {
    std::string checksum;                     // over what it printed; empty: not asked for
    std::optional<trace::Counts> counts;      // from the run behind it; empty: none, or it cannot be counted
    std::string why_uncounted;                // empty: it was, or that was not asked for
    std::optional<model::NameLengths> names;  // as it was called when it was counted
    std::string why_unasked;                  // whose malloc it used, where the case names one; empty: it was asked
};

// Everything one repetition measured, complete only when `ending` is finished.
struct Outcome {
    Ending ending{Ending::broken};
    std::string reason;
    int pid{};
    RepetitionRecord record;
    std::vector<PointRecord> points;
    std::vector<PhaseRecord> phases;
    std::vector<SlotRecord> slots;
    std::vector<std::int64_t> call_times_ns;
    std::vector<model::Series> series;
    model::AllocatorInfo allocator;                            // what the worker said of it, if the case names one
    std::shared_ptr<const trace::CallTimeCounts> call_counts;  // nullptr: no replay timed its calls
    CommandRecord command;                                     // filled where the program is a command
};

// One of the repetitions that go at the same time.
struct Repetition {
    const Program& program;
    RunLimits limits;
    std::size_t place{};                   // from 0; another for each of them
    std::function<void(int pid)> started;  // as of Executor::run
};

// Copies the measurements that a repetition left in its region, and turns the region's state into an ending with its
// reason. A region in one of the states before `finished` means that its worker did not get to the end: `crashed`.
void read_region(const RunRegion& region, Outcome& outcome);

class Executor {
  public:
    virtual ~Executor() = default;

    // `started` is called with the worker's pid as soon as it exists, before it begins.
    [[nodiscard]] virtual Outcome run(const Program& program, const RunLimits& limits,
                                      const std::function<void(int pid)>& started) = 0;

    // All at the same time: as many outcomes, in their order; one that fails costs no other. Only an executor of
    // foreign programs can; a schedule asks no other for it.
    [[nodiscard]] virtual std::vector<Outcome> run_at_once(std::span<const Repetition> repetitions);
};

struct RepetitionStart {
    std::string_view case_id;
    int pid{};
    std::uint32_t repetition{};  // from 0; of the warm-up rounds when `warmup`
    bool warmup{};
};

struct RepetitionDiscard {
    std::string_view case_id;
    std::uint32_t repetition{};
    bool case_goes_on{};  // which had ended
};

// What a run is going to do, of cases that are not refused and of repetitions that an earlier run did not leave.
struct PlannedRuns {
    std::uint64_t cases{};
    std::uint64_t repetitions{};  // over all cases, as the warm-ups are
    std::uint64_t warmups{};
};

// Who is told what happens during a run: progress on a terminal, an event stream, the result file. Until a case has
// ended, its metrics have no summaries.
//
// Threads  called from the driver's thread, never while a repetition is running except `case_started` and
//          `repetition_started`, which come before its first step.
class Observer {
  public:
    virtual ~Observer() = default;

    virtual void run_started(const model::RunReport& /*report*/, const PlannedRuns& /*planned*/) {}
    virtual void repetition_started(const RepetitionStart& /*start*/) {}
    virtual void repetition_ended(const RepetitionStart& /*start*/, const Outcome& /*outcome*/,
                                  const model::RunReport& /*report*/)
    {
    }
    // A repetition that has ended counts no more, because its round is measured again: the same number starts anew, and
    // a case that it had ended goes on.
    virtual void repetition_discarded(const RepetitionDiscard& /*discard*/) {}
    virtual void case_ended(const model::CaseReport& /*ended*/, const model::RunReport& /*report*/) {}
    virtual void run_ended(const model::RunReport& /*report*/) {}
};

}  // namespace memsweep::engine
