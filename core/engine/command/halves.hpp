// Runs several programs at the same time, each supervised by a forked copy of this process, called a half. So all
// processes that a program starts descend from its own supervisor. None of these processes is counted for another
// program, or killed together with another program.
//
// Cost     one fork of this process per program. All programs wait until the last one is ready, and are then started by
//          one message each. On a machine whose processors are busy, two programs begin 0.1 to 0.5 ms apart in a
//          quarter of the runs (2-core VM).
// Errors   never an exception. Each Attempt says how its program ended. If a supervisor is lost, its program's attempt
//          is `broken`; the attempts of the other programs do not change.
// Threads  call from one thread; this process must have no other thread, because it forks. Stop signals to this process
//          are passed on to every half.
#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <vector>

#include "core/engine/repetition/executor.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/signals.hpp"

namespace memsweep::engine {

struct Half {
    // Runs in the forked copy. It calls `ready` with CommandLaunch::gate(), through which the parent process starts the
    // program. It calls `started` with the program's pid. The parent process gets only a part of the returned Attempt:
    // ending, reason, CommandUse and checksum, and of `at_end` the working set and why it was not read.
    std::function<Attempt(const std::function<void(int pid)>& started, const std::function<void(int gate)>& ready)>
        measure;
    std::function<void(int pid)> started;  // called in the parent process
    std::chrono::nanoseconds longest{};    // the longest time that the half may take; after that time it counts as lost
};

// Runs all halves. Returns their attempts in the same order.
[[nodiscard]] std::vector<Attempt> run_halves(std::span<const Half> halves, const sys::Clock& clock,
                                              const sys::StopSignals& signals);

}  // namespace memsweep::engine
