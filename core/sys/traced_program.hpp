// The loop that traces a command from its seizing to its end, and stops it as ProgramStops says (stopped_end.hpp). The
// command is a child of ours that has not become its program yet.
//
// Sources  ptrace(2), wait(2), sigtimedwait(2).
// Threads  the one that has seized the command. The awaited signals are blocked meanwhile.
#pragma once

#include <sys/types.h>

#include <csignal>

#include "core/sys/child_process.hpp"
#include "core/sys/stopped_end.hpp"

namespace memsweep::sys {

// The options with which the command is seized (PTRACE_SEIZE).
[[nodiscard]] unsigned long first_options(const ProgramStops& stops);

[[nodiscard]] sigset_t awaited_signals();

// Traces until the command and the process that is followed have ended. Returns how the command ended.
[[nodiscard]] ExitStatus trace_to_end(pid_t command, const ProgramStops& stops);

}  // namespace memsweep::sys
