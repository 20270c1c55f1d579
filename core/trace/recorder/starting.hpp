// Follows the programs that the recorded program starts. They are to be recorded too. If one is not, `memsweep record`
// must know.
//
// Each exec and posix_spawn leaves a note of which program begins in which process (format/start_layout.hpp). The new
// environment may lack the recorder's entry of LD_PRELOAD, or its variables. Examples are `env -i`, a wrapper that sets
// LD_PRELOAD, and a subprocess with a clean environment. Then both are added again, the recorder's entry in front. A
// program that cannot load the recorder does not get them. A program of another C library loses them, because its
// dynamic linker would end it.
//
// Sources  exec(3), posix_spawn(3), system(3), popen(3). Raw system calls are not seen.
// Cost     some 10 us for each program that is started, and nothing else.
// Memory   the stack, because in a child of vfork(2) everything else is its parent's. If the new environment must be
//          changed and has more than max_stack_entries variables, a mapping.
// Errors   those of the real call. Without the file, or room in it, nothing is noted.
// Threads  any; async-signal-safe as execve(2) is, but for system and popen.
#pragma once

namespace memsweep::trace::recorder {

// Call once, before the program's own code.
void begin_noting_starts() noexcept;

}  // namespace memsweep::trace::recorder
