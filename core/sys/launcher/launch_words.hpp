// The messages between memsweep, the launcher (which starts a program) and the guard (which kills the program and its
// descendants at the end). There are two sockets; both preserve message boundaries.
//
// The launcher's socket: memsweep sends launch_go, one byte. The launcher makes a process for the program and sends a
// LaunchWord with its pid. If the new process cannot execute the program, that process sends a LaunchWord with pid 0.
// In that case, memsweep gets both LaunchWords, in any order. Then the socket closes.
//
// The guard's socket: the guard first sends a GuardWord with the launcher's pid. Then memsweep sends GuardOrders. The
// guard answers guard_wait, but not guard_leave. When memsweep shuts down its sending side of the socket, or closes
// the socket, or dies, the guard kills the guarded processes, sends GuardCleared (except with launch_recorded), and
// ends.
#pragma once

#include <stdint.h>  // NOLINT(modernize-deprecated-headers,hicpp-deprecated-headers): the launcher has no C++ headers

namespace memsweep::sys {

inline constexpr int could_not_launch = 127;  // the launcher's exit code, as in shells
inline constexpr char launch_go = 'g';

// The first argument of memsweep-launch: how the program is started.
inline constexpr const char* launch_measured = "measured";  // in a session of its own
inline constexpr const char* launch_watched = "watched";    // in memsweep's session
inline constexpr const char* launch_recorded = "recorded";  // in memsweep's session, and as a child of memsweep: the
                                                            // guard is not its ancestor and adopts no orphans

struct LaunchWord {
    int pid;           // pid of the program's process; 0: the process could not be made, or cannot execute the program
    int error;         // errno of the call that failed; 0: none failed
    int64_t begun_ns;  // CLOCK_MONOTONIC, just before the process was made
};

struct GuardWord {
    int launcher;  // pid of the launcher; 0: the launcher could not be made
    int error;     // if `launcher` is 0: errno
};

inline constexpr int guard_wait = 1;   // asks how process `pid` ended; answered with a GuardEnd
inline constexpr int guard_leave = 2;  // tells the guard to end and let the guarded processes run on; not answered

struct GuardOrder {
    int what;
    int pid;
};

struct GuardEnd {
    int ended;          // 1: the process has ended; 0: it runs, or an earlier GuardEnd has already said 1
    int status;         // as wait4(2) gives it
    int64_t usage[18];  // struct rusage of wait4(2), in the kernel's layout for 64 bits
};

struct GuardCleared {
    int64_t killed;       // how many processes the guard killed
    int64_t max_rss_kib;  // peak resident set of the largest process that the guard reaped
    int survivor;         // pid of a process that did not end in time; 0: none
};

}  // namespace memsweep::sys
