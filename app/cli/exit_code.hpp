// What the process says to the shell.
#pragma once

#include <algorithm>
#include <array>

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

// Of several that apply, the first in this order wins: 130, 143, 70, 2, 3, 1, 5, 4.
[[nodiscard]] inline ExitCode worse(ExitCode a, ExitCode b)
{
    static constexpr std::array order{ExitCode::interrupted, ExitCode::terminated,       ExitCode::internal,
                                      ExitCode::bad_input,   ExitCode::case_failed,      ExitCode::finding,
                                      ExitCode::no_verdict,  ExitCode::nothing_measured, ExitCode::done};
    return std::min(std::ranges::find(order, a), std::ranges::find(order, b))[0];
}

}  // namespace memsweep::app
