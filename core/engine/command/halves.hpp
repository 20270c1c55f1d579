// Runs programs at the same time, each supervised by a copy of this process. So all that a program starts and leaves
// behind descends from its own supervisor alone. No process is taken for the other program's, or killed with it.
//
// Cost     a fork of this process for each, before its program begins. All wait at a gate until the last of them is
//          there, and are released by one message each. If others keep the processors busy, a quarter of them begin
//          within 0.1 to 0.5 ms of each other (2-core VM).
// Errors   an attempt, never an exception: `broken` for a supervisor that is lost. An attempt that ended by itself
//          stands.
// Threads  one, and this process has no other. A stop signal that it gets is passed on to every half.
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
    // Runs in the copy. It calls `ready` with the gate of a CommandLaunch, which this process releases, and `started`
    // with the program's pid. It fills only the parts of the attempt that a foreign program has: no points, phases,
    // slots or series.
    std::function<Attempt(const std::function<void(int pid)>& started, const std::function<void(int gate)>& ready)>
        measure;
    std::function<void(int pid)> started;  // in this process
    std::chrono::nanoseconds longest{};    // from its begin to its end, else it is lost
};

// Runs all halves; the attempts are in their order.
[[nodiscard]] std::vector<Attempt> run_halves(std::span<const Half> halves, const sys::Clock& clock,
                                              const sys::StopSignals& signals);

}  // namespace memsweep::engine
