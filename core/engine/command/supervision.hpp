// One run of a foreign program: starts it, watches it, samples it from outside, and ends it with all its descendants.
//
// At the timeout, or when the user stops the run, the program and its descendants get SIGTERM, and SIGKILL a second
// later. Descendants that outlive the program are killed and reaped. A process that has become another user's cannot be
// killed: ProgramEnd names it, and run() does not wait for it. Output beyond what is kept is read and discarded.
//
// Units    Wall time runs from releasing the waiting launcher to the program's end, which the kernel reports.
// Errors   in ProgramEnd: `broken` and the reason if the program could not be started.
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
    std::optional<std::uint32_t> processor;  // it runs on no other
    std::function<void(int gate)> ready;     // gets the launch's gate, for somebody else to release; empty: no gate
};

// How one program ended, and what it used.
struct ProgramEnd {
    Ending ending{Ending::broken};
    std::string reason;
    sys::ExitStatus status;
    std::chrono::nanoseconds wall{};
    sys::HardwareCounts hardware;
    sys::Cleared left;
    std::string runs_on;  // a process that did not end, and why; empty: none
    std::string last_words;
    std::string checksum;     // empty: not asked for
    Moment at_end;            // when its work was done, if the command says when that is
    bool was_asked_to_end{};  // it went on long after that, and got SIGTERM
};

// The longest time from a program's timeout to the end of all that it has started.
inline constexpr std::chrono::nanoseconds longest_ending = std::chrono::seconds{13};

class Supervision {
  public:
    Supervision(const sys::Clock& clock, const sys::StopSignals& signals, std::chrono::nanoseconds timeout)
        : clock_{clock}, signals_{signals}, timeout_{timeout}
    {
    }

    // From here on programs run under a library that counts or records their allocations into a folder, with these
    // options. `looks` looks at the tree while they run; it must outlive this object.
    void record_with(const std::string& recorder, const std::string& folder, std::string options,
                     trace::TreeLooks& looks);

    // Sets the constraints of the next program.
    void hold(const Hold& hold);

    // `sampler`: null if nobody needs the program's memory.
    ProgramEnd run(const model::CommandSpec& command, const std::vector<std::string>& words,
                   const model::AllocatorSpec& allocator, const std::string& output, std::chrono::nanoseconds interval,
                   TreeSampler* sampler, const std::function<void(int pid)>& started);

  private:
    void let_others_end(const sys::GuardedProgram& running);
    base::Expected<sys::CommandLaunch> prepare(const model::CommandSpec& command, const std::vector<std::string>& words,
                                               const model::AllocatorSpec& allocator, const std::string& output);
    void announce_end(const model::CommandSpec& command, sys::SpawnOptions& program) const;

    // Preloads the recorder, in front of an allocator that is preloaded too.
    void preload_recorder(sys::SpawnOptions& program) const;

    // Passes what the program prints to `end_watch`, which waits for the sign that work is done. Null: nobody waits.
    void listen(EndWatch* end_watch);

    // Watches until the program has ended, runs out of time or the user stops the run.
    void watch(const sys::GuardedProgram& running, std::chrono::nanoseconds begin, std::chrono::nanoseconds interval,
               TreeSampler* sampler, EndWatch* end_watch, ProgramEnd& end);

    // Waits, and reads the program's output meanwhile; true as soon as the program has ended.
    bool wait_for_end(const sys::GuardedProgram& running, std::chrono::nanoseconds wait);

    // Asks the program and all its descendants to end, then kills them.
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

// Whether a program ended as after a SIGTERM: by the signal, with a shell's exit code for it, or in good order.
[[nodiscard]] bool has_obeyed(const sys::ExitStatus& status);

// The words to execute: `words`, or /bin/sh -c with them.
[[nodiscard]] std::vector<std::string> executed(const std::vector<std::string>& words, bool shell);

// The path as seen by a program that runs in that folder.
[[nodiscard]] std::string path_from(const std::string& cwd, const std::string& path);

// Why the run failed; empty if it did not. Turns a bad exit into `crashed`, and `finished` into `broken` if a process
// of the program runs on.
[[nodiscard]] std::string judge(ProgramEnd& end, std::uint32_t exit_code, std::chrono::nanoseconds timeout);

}  // namespace memsweep::engine
