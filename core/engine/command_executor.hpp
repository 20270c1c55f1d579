// Runs repetitions of foreign programs: prepares, starts, samples the process tree, waits, cleans up.
//
// A program that misbehaves costs its own case: what it leaves running is killed and reaped, what it prints beyond any
// measure is read and forgotten, and at the timeout it and all that it started get SIGTERM, then SIGKILL.
//
// Units    the wall time is from the word to start, which a process waits for that is there already, to the program's
//          end, which the kernel reports.
// Cost     while the program runs: its tree is sampled from outside, at the case's interval or so that a fiftieth of
// one
//          processor is spent. The first sample comes when short programs have ended.
//          Where allocations are counted, the program runs once more, untimed, under the recorder.
// Errors   an Outcome, never an exception; `crashed` for an exit code other than the case's.
// Threads  one, which also adopts orphans for as long as this process lives.
#pragma once

#include <functional>
#include <string>

#include "core/engine/executor.hpp"
#include "core/engine/tree_sampler.hpp"
#include "core/model/command.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/signals.hpp"
#include "core/trace/counts.hpp"

namespace memsweep::engine {

class CommandExecutor final : public Executor {
  public:
    // `recorder`: the library that counts allocations, or why there is none.
    CommandExecutor(const sys::Clock& clock, const sys::StopSignals& signals, base::Expected<std::string> recorder);

    // `program.command` is there.
    [[nodiscard]] Outcome run(const Program& program, const RunLimits& limits,
                              const std::function<void(int pid)>& started) override;

  private:
    // With what is to be done before and after it.
    template <typename Run>
    void run_between(const Program& program, const RunLimits& limits, Outcome& outcome, const Run& run) const;
    [[nodiscard]] Outcome measure(const Program& program, const RunLimits& limits,
                                  const std::function<void(int pid)>& started);

    // The same program once more, with nothing timed.
    [[nodiscard]] base::Expected<trace::Counts> count(const Program& program, const RunLimits& limits) const;

    const sys::Clock& clock_;
    const sys::StopSignals& signals_;
    base::Expected<std::string> recorder_;
};

// Why the program cannot be found where the command says; empty when it can, or only its shell or what `prepare` does
// can tell.
[[nodiscard]] std::string missing_program(const model::CommandSpec& command);

}  // namespace memsweep::engine
