// What the process says to the shell. Of several that apply, the first in this order wins: 130/143, 70, 2, 3, 1, 5, 4.
#pragma once

namespace memsweep::app {

enum class ExitCode : int {
    done = 0,
    finding = 1,      // an assertion failed, a regression
    bad_input = 2,    // usage, unreadable or invalid input, output that cannot be written, not comparable
    case_failed = 3,  // a case crashed, timed out or ran out of memory
    nothing_measured = 4,
    no_verdict = 5,  // too few repetitions
    internal = 70,
    interrupted = 130,  // SIGINT, SIGHUP
    terminated = 143,   // SIGTERM
};

[[nodiscard]] ExitCode worse(ExitCode a, ExitCode b);

}  // namespace memsweep::app
