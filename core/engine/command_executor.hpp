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

namespace memsweep::engine {

class CommandExecutor final : public Executor {
  public:
    CommandExecutor(const sys::Clock& clock, const sys::StopSignals& signals);

    // `program.command` is there.
    [[nodiscard]] Outcome run(const Program& program, const RunLimits& limits,
                              const std::function<void(int pid)>& started) override;

  private:
    [[nodiscard]] Outcome measure(const Program& program, const RunLimits& limits,
                                  const std::function<void(int pid)>& started);

    const sys::Clock& clock_;
    const sys::StopSignals& signals_;
};

// Why the program cannot be found where the command says; empty when it can, or only its shell or what `prepare` does
// can tell.
[[nodiscard]] std::string missing_program(const model::CommandSpec& command);

}  // namespace memsweep::engine
