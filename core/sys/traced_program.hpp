// Traces a command to its end, stops the followed program when ProgramStops asks for it, and calls the callbacks of
// ProgramStops (stopped_end.hpp). The command is a child of this process, which has seized it (PTRACE_SEIZE) before its
// execve.
//
// Sources  ptrace(2), wait(2), sigtimedwait(2).
// Threads  call from the thread that has seized the command. This thread must block awaited_signals().
#pragma once

#include <sys/types.h>

#include <csignal>

#include "core/sys/child_process.hpp"
#include "core/sys/stopped_end.hpp"

namespace memsweep::sys {

// Returns the options with which the caller must seize the command (PTRACE_SEIZE).
[[nodiscard]] unsigned long first_options(const ProgramStops& stops);

// Returns the set of SIGCHLD and the signals that are passed on to the command.
[[nodiscard]] sigset_t awaited_signals();

// Traces until both the command and the followed process have ended. Returns how the command ended.
[[nodiscard]] ExitStatus trace_to_end(pid_t command, const ProgramStops& stops);

}  // namespace memsweep::sys
