// Runs repetitions of foreign programs. A repetition runs the script `prepare`, the program (under a Supervision), and
// the script `cleanup`. If requested, it then runs the program one more time to count allocations.
//
// A program that misbehaves fails only its own case. The setup script of a case stays in effect until another case
// runs. So a plan with setup scripts runs its cases one after another (Order::sequential).
//
// Cost     while the program runs, its process tree is sampled from outside, at the interval of the case. Without an
//          interval, sampling takes at most a fiftieth of one processor, and starts only after some time, so that short
//          programs are not sampled. If allocations are counted, the program runs one more time, untimed, under the
//          recorder. If the case names an allocator, one run under the recorder per case checks which malloc the
//          program uses; any other malloc is an error.
// Errors   reported in the Attempt, never as an exception; an exit code other than the expected one counts as
//          `crashed`.
// Threads  one. From the constructor on, this process adopts orphaned processes. In run_at_once() a forked copy of this
//          process supervises each program (halves.hpp).
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
    // `recorder`: the path of the recorder's library, or why there is none. `processors`: in run_at_once(), a program
    // runs on processors[Repetition::place].
    CommandExecutor(const sys::Clock& clock, const sys::StopSignals& signals, base::Expected<std::string> recorder,
                    std::vector<std::uint32_t> processors = {});

    // `compiled` must be the case of a program.
    [[nodiscard]] Attempt run(const CompiledCase& compiled, const RunLimits& limits,
                              const std::function<void(int pid)>& started) override;

    // Runs several programs at the same time. Each program runs only on the processor that its Repetition::place
    // selects. The scripts and the counting runs are executed one after another.
    [[nodiscard]] std::vector<Attempt> run_at_once(std::span<const Repetition> repetitions) override;

    [[nodiscard]] std::vector<std::string> take_down() override;

    // Runs the teardown script of the last case that was set up, unless take_down() has run it.
    ~CommandExecutor() override;
    CommandExecutor(const CommandExecutor&) = delete;
    CommandExecutor& operator=(const CommandExecutor&) = delete;

    // From now on, no run checks which malloc a program uses, even if its case names an allocator.
    void ask_no_more() { asks_ = false; }

    // Runs the program one more time, untimed, under the recorder, and returns the counts of its allocations. Errors:
    // the recorder cannot be used with the program, or the program failed.
    [[nodiscard]] base::Expected<trace::CountedTree> count(const CompiledCase& compiled, const RunLimits& limits) const;

    // Runs the program one more time, untimed, and records its allocations in `folder`. `options`: options of the
    // recorder. Returns the program's memory at the end of its work, if the command defines a sign that its work is
    // done.
    [[nodiscard]] base::Expected<Moment> record(const CompiledCase& compiled, const RunLimits& limits,
                                                const std::string& folder, const std::string& options) const;

  private:
    [[nodiscard]] base::Expected<Moment> run_recorded(const CompiledCase& compiled, const RunLimits& limits,
                                                      const std::string& folder, const std::string& options,
                                                      trace::TreeLooks& looks) const;

    // Runs the setup script of this case; before that, tears down any other case that is set up. Does nothing if this
    // case is set up already.
    void set_up(const CompiledCase& compiled, const RunLimits& limits, Attempt& attempt);
    void tear_down();

    // Runs one of the scripts around the program. `what`: its name, for messages. `words`: the script.
    void do_beside(const CompiledCase& compiled, const RunLimits& limits, std::string_view what,
                   const std::vector<std::string>& words, Attempt& attempt) const;
    void prepare(const CompiledCase& compiled, const RunLimits& limits, Attempt& attempt) const;
    void clean_up(const CompiledCase& compiled, const RunLimits& limits, Attempt& attempt) const;
    [[nodiscard]] Attempt measure(const CompiledCase& compiled, const RunLimits& limits,
                                  const std::function<void(int pid)>& started, const Hold& hold) const;

    // Call after a run. If the run finished, runs the program one more time, untimed, to count its allocations or to
    // check its malloc. Does nothing if no count is requested and no check is left to make.
    void count_behind(const CompiledCase& compiled, const RunLimits& limits, Attempt& attempt);
    const sys::Clock& clock_;
    const sys::StopSignals& signals_;
    base::Expected<std::string> recorder_;
    std::vector<std::uint32_t> processors_;
    bool asks_{true};
    std::map<const CompiledCase*, std::string>
        asked_;                           // by checked case: why its malloc could not be found out; empty: it was found
    std::optional<CompiledCase> set_up_;  // the case that is set up and must be torn down
    RunLimits set_up_limits_;
    std::vector<std::string> failed_clean_ups_;  // a message for each case whose teardown script failed
};

// Returns a message if a process of the program used another malloc than that of `allocator`; empty: no process did.
[[nodiscard]] std::string other_malloc(const trace::CountedTree& tree, const model::AllocatorSpec& allocator);

// Returns why the command's program cannot be found or started; empty: it can be, or this is not known yet. It is not
// known in three cases: a shell looks the program up; the command sets its own PATH; or `prepare` may make the program.
[[nodiscard]] std::string missing_program(const model::CommandSpec& command);

}  // namespace memsweep::engine
