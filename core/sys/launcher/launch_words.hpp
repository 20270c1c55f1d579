// The messages between memsweep, its launcher and the guard, over two sockets of whole messages.
//
// The launcher's socket carries one byte from memsweep, launch_go; then a LaunchWord from the launcher. If the
// program's process cannot execute the program, it sends a second LaunchWord. If it can, the socket closes without a
// second message.
//
// The guard's socket carries first a GuardWord with the launcher's process. Then memsweep sends orders; the comment of
// an order says whether it is answered. When memsweep's side closes, for whatever reason, the guard ends the processes
// that it guards, says GuardCleared, and ends.
#pragma once

#include <stdint.h>  // NOLINT(modernize-deprecated-headers,hicpp-deprecated-headers): the launcher has no other

namespace memsweep::sys {

inline constexpr int could_not_launch = 127;  // the launcher's exit code, as in shells
inline constexpr char launch_go = 'g';

// The launcher's first word, for what it starts a program:
inline constexpr const char* launch_measured = "measured";  // in a session of its own
inline constexpr const char* launch_watched = "watched";    // in ours
inline constexpr const char* launch_recorded = "recorded";  // in ours, and its process is a child of memsweep's: the
                                                            // guard stands beside it and adopts no orphan

struct LaunchWord {
    int pid;           // the program's process; 0: none could be made, or it cannot execute the program
    int error;         // errno of what went wrong; 0: nothing
    int64_t begun_ns;  // CLOCK_MONOTONIC, just before the process was made
};

struct GuardWord {
    int launcher;  // the launcher's process; 0: none could be made
    int error;     // why none could be made: errno
};

inline constexpr int guard_wait = 1;   // answered with GuardEnd: how `pid` ended, if it has; once
inline constexpr int guard_leave = 2;  // the guard ends, and what it guards runs on

struct GuardOrder {
    int what;
    int pid;
};

struct GuardEnd {
    int ended;  // 0: it runs
    int status;
    int64_t usage[18];  // struct rusage of wait4(2), as the kernel has it on 64 bits
};

struct GuardCleared {
    int64_t killed;       // processes
    int64_t max_rss_kib;  // by the largest that ended
    int survivor;         // a process that did not end in time; 0: none
};

}  // namespace memsweep::sys
