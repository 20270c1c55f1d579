// Runs repetitions of foreign programs: prepares, runs each under a Supervision, cleans up, and counts allocations in a
// further run.
//
// A program that misbehaves fails its own case only. What a case sets up lasts until another case runs, so a plan with
// set-ups runs its cases one after another (Order::sequential).
//
// Cost     while the program runs: its tree is sampled from outside, at the case's interval. Without an interval,
//          sampling takes at most a fiftieth of one processor, and begins when short programs have ended. If
//          allocations are counted, the program runs once more, untimed, under the recorder. If the case names an
//          allocator, it also runs once in this way, to see whose malloc serves it. Another malloc is an error, as it
//          is for a case of steps.
// Errors   an attempt, never an exception; `crashed` for an exit code other than the case's.
// Threads  one, which also adopts orphans for as long as this process lives. In run_at_once a copy of this process
//          supervises each program (halves.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine/command/supervision.hpp"
#include "core/engine/repetition/executor.hpp"
#include "core/model/command.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/signals.hpp"
#include "core/trace/counts.hpp"

namespace memsweep::engine {

class CommandExecutor final : public Executor {
  public:
    // `recorder`: the library that counts allocations, or why there is none. `processors`: one for each place of
    // programs that run at the same time.
    CommandExecutor(const sys::Clock& clock, const sys::StopSignals& signals, base::Expected<std::string> recorder,
                    std::vector<std::uint32_t> processors = {});

    // The case runs a program.
    [[nodiscard]] Attempt run(const CompiledCase& compiled, const RunLimits& limits,
                              const std::function<void(int pid)>& started) override;

    // Each program runs on the processor of its place alone. Preparations, clean-ups and counting runs come one after
    // another.
    [[nodiscard]] std::vector<Attempt> run_at_once(std::span<const Repetition> repetitions) override;

    // Ends what the last case has set up.
    ~CommandExecutor() override;
    CommandExecutor(const CommandExecutor&) = delete;
    CommandExecutor& operator=(const CommandExecutor&) = delete;

    // From here on, nobody checks whose malloc serves a program whose case names an allocator.
    void ask_no_more() { asks_ = false; }

    // Runs the program once more, with nothing timed, under the recorder. Errors: it cannot be counted, or failed.
    [[nodiscard]] base::Expected<trace::CountedTree> count(const CompiledCase& compiled, const RunLimits& limits) const;

    // Runs the program once more, with nothing timed, and records its allocations into the folder. `options`: the
    // recorder's. Returns the program's memory when its work was done, if the command says when that is.
    [[nodiscard]] base::Expected<Moment> record(const CompiledCase& compiled, const RunLimits& limits,
                                                const std::string& folder, const std::string& options) const;

  private:
    [[nodiscard]] base::Expected<Moment> run_recorded(const CompiledCase& compiled, const RunLimits& limits,
                                                      const std::string& folder, const std::string& options,
                                                      trace::TreeLooks& looks) const;

    // Sets up a case that differs from the one before, which is torn down first.
    void set_up(const CompiledCase& compiled, const RunLimits& limits, Attempt& attempt);
    void tear_down();

    // Runs the command to prepare, or to clean up after, the program.
    void do_beside(const CompiledCase& compiled, const RunLimits& limits, std::string_view what,
                   const std::vector<std::string>& words, Attempt& attempt) const;
    void prepare(const CompiledCase& compiled, const RunLimits& limits, Attempt& attempt) const;
    void clean_up(const CompiledCase& compiled, const RunLimits& limits, Attempt& attempt) const;
    [[nodiscard]] Attempt measure(const CompiledCase& compiled, const RunLimits& limits,
                                  const std::function<void(int pid)>& started, const Hold& hold) const;

    // Runs the same program once more, untimed, if it has finished and its allocations are to be counted, or if its
    // malloc is not known yet.
    void count_behind(const CompiledCase& compiled, const RunLimits& limits, Attempt& attempt);
    const sys::Clock& clock_;
    const sys::StopSignals& signals_;
    base::Expected<std::string> recorder_;
    std::vector<std::uint32_t> processors_;
    bool asks_{true};
    std::map<const CompiledCase*, std::string>
        asked_;                           // programs under a named allocator, and why they could not be asked
    std::optional<CompiledCase> set_up_;  // the case that was set up and is to be torn down
    RunLimits set_up_limits_;
};

// The processes of a program that had another malloc than `allocator`, in words; empty: there are none.
[[nodiscard]] std::string other_malloc(const trace::CountedTree& tree, const model::AllocatorSpec& allocator);

// Why the program cannot be found as the command names it; empty if it can be found, or if only its shell or `prepare`
// decides that.
[[nodiscard]] std::string missing_program(const model::CommandSpec& command);

}  // namespace memsweep::engine
