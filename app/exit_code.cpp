#include "app/exit_code.hpp"

#include <algorithm>
#include <array>

namespace memsweep::app {

ExitCode worse(ExitCode a, ExitCode b)
{
    static constexpr std::array order{ExitCode::interrupted, ExitCode::terminated,       ExitCode::internal,
                                      ExitCode::bad_input,   ExitCode::case_failed,      ExitCode::finding,
                                      ExitCode::no_verdict,  ExitCode::nothing_measured, ExitCode::done};
    return std::min(std::ranges::find(order, a), std::ranges::find(order, b))[0];
}

}  // namespace memsweep::app
