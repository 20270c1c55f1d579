// What memsweep and its launcher say to each other, over a socket of whole messages.
#pragma once

#include <stdint.h>  // NOLINT(modernize-deprecated-headers,hicpp-deprecated-headers): the launcher has no other

namespace memsweep::sys {

inline constexpr int launcher_socket = 3;          // of the launcher, unless its name is another number
inline constexpr int could_not_launch = 127;       // its exit code, as a shell says it
inline constexpr char launch_go = 'g';             // to the launcher: start the program, in a session of its own
inline constexpr char launch_in_foreground = 'f';  // in the launcher's session, not to end with memsweep

// From the launcher, and from the program's process where it could not become the program. No message, but the
// socket's end, says that it has.
struct LaunchWord {
    int pid;           // of the program's process; 0: none could be made, or this is about its program
    int error;         // errno of what went wrong; 0: nothing
    int64_t begun_ns;  // of CLOCK_MONOTONIC, just before the process was made
};

}  // namespace memsweep::sys
