// Supervises one run of a foreign program: starts the program, samples its memory from outside, and ends it with all
// its descendants.
//
// At the timeout, or when the user stops the run, the program and its descendants get SIGTERM, and SIGKILL at most a
// second later. Descendants that outlive the program are killed and reaped. A process that has changed to another user
// cannot be killed: ProgramEnd::runs_on names it, and run() does not wait for its end. Output that the program writes
// into our pipes is read to its end, even if only its last lines are kept.
//
// Units    Wall time runs from just before the program's process is made until the kernel notifies us of its end.
// Errors   in ProgramEnd: `ending` and `reason`. `broken`: the program could not be started, or the supervision failed.
// Threads  one.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/command/end_watch.hpp"
#include "core/engine/command/program_output.hpp"
#include "core/engine/command/tree_sampler.hpp"
#include "core/engine/repetition/executor.hpp"
#include "core/model/command.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/command_launch.hpp"
#include "core/sys/process_tree.hpp"
#include "core/sys/signals.hpp"
#include "core/trace/unrecorded.hpp"

namespace memsweep::engine {

// Constraints on a program that runs at the same time as another.
struct Hold {
    std::optional<std::uint32_t> processor;  // the only processor on which it may run
    // Called with CommandLaunch::gate() when the program is ready. The program starts when somebody passes this gate to
    // CommandLaunch::release(). Empty: the program starts at once.
    std::function<void(int gate)> ready;
};

// How one program ended, and what it used.
struct ProgramEnd {
    Ending ending{Ending::broken};
    std::string reason;
    sys::ExitStatus status;
    std::chrono::nanoseconds wall{};
    sys::HardwareCounts hardware;
    sys::Cleared left;
    std::string runs_on;  // the name of a process that could not be ended, and the reason; empty: there is none
    std::string last_words;
    std::string checksum;     // of its output; empty: not requested
    Moment at_end;            // its memory at the end of its work, if the command defines a sign
    bool was_asked_to_end{};  // it got SIGTERM because it went on after the end of its work
};

// The longest time from a program's timeout until Supervision::run() returns.
inline constexpr std::chrono::nanoseconds longest_ending = std::chrono::seconds{13};

class Supervision {
  public:
    Supervision(const sys::Clock& clock, const sys::StopSignals& signals, std::chrono::nanoseconds timeout)
        : clock_{clock}, signals_{signals}, timeout_{timeout}
    {
    }

    // Makes all later programs run under the recorder's library. With these options, the library counts or records
    // their allocations and writes into `folder`. `looks` observes each program and its descendants while they run; it
    // must outlive this object.
    void record_with(const std::string& recorder, const std::string& folder, std::string options,
                     trace::TreeLooks& looks);

    // Sets the constraints of all later programs.
    void hold(const Hold& hold);

    // Runs a program. `sampler`: null if the program's memory is not sampled.
    ProgramEnd run(const model::CommandSpec& command, const std::vector<std::string>& words,
                   const model::AllocatorSpec& allocator, const std::string& output, std::chrono::nanoseconds interval,
                   TreeSampler* sampler, const std::function<void(int pid)>& started);

  private:
    void let_others_end(const sys::GuardedProgram& running);
    base::Expected<sys::CommandLaunch> prepare(const model::CommandSpec& command, const std::vector<std::string>& words,
                                               const model::AllocatorSpec& allocator, const std::string& output);
    void announce_end(const model::CommandSpec& command, sys::SpawnOptions& program) const;

    // Preloads the recorder, in front of a preloaded allocator if there is one.
    void preload_recorder(sys::SpawnOptions& program) const;

    // Passes the program's output to `end_watch`, which waits for the sign that work is done. Null: there is no sign to
    // wait for.
    void listen(EndWatch* end_watch);

    // Watches until the program has ended, the timeout has passed, or the user stops the run.
    void watch(const sys::GuardedProgram& running, std::chrono::nanoseconds begin, std::chrono::nanoseconds interval,
               TreeSampler* sampler, EndWatch* end_watch, ProgramEnd& end);

    // Waits until the program has ended or printed something, a stop signal has come, or `wait` has passed. Reads what
    // was printed. Returns true if the program has ended.
    bool wait_for_end(const sys::GuardedProgram& running, std::chrono::nanoseconds wait);

    // Sends SIGTERM to the program and all its descendants, and SIGKILL at most a second later.
    void stop(const sys::GuardedProgram& running);

    const sys::Clock& clock_;
    const sys::StopSignals& signals_;
    std::chrono::nanoseconds timeout_;
    LastWords last_words_;
    Checksum checksum_;
    std::string recorder_;  // empty: nothing is recorded
    std::string recording_folder_;
    std::string recording_options_;
    trace::TreeLooks* looks_{};  // null: nothing is recorded
    Hold hold_;
};

// Whether a program's end can be its answer to SIGTERM: it was killed by SIGTERM, it has the exit code that a shell
// returns in that case (143), or it ended successfully.
[[nodiscard]] bool has_obeyed(const sys::ExitStatus& status);

// The words to execute: `words` themselves or, with `shell`, /bin/sh -c and the words.
[[nodiscard]] std::vector<std::string> executed(const std::vector<std::string>& words, bool shell);

// Resolves a path as a program with the working folder `cwd` would.
[[nodiscard]] std::string path_from(const std::string& cwd, const std::string& path);

// Returns why the run failed; an empty text: it did not fail. Changes `end.ending`: to `crashed` after a wrong exit
// code or a signal, and from `finished` to `broken` if a process of the program still runs.
[[nodiscard]] std::string judge(ProgramEnd& end, const model::CommandSpec& command, std::chrono::nanoseconds timeout);

}  // namespace memsweep::engine
