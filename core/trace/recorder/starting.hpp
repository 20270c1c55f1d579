// What the recorder does where the program starts another: the next one is to be recorded too, and where it is not,
// `memsweep record` shall know.
//
// Each exec and posix_spawn leaves a note of which program begins in which process (format/start_layout.hpp). Where the
// new environment lacks our entry of LD_PRELOAD, or what the recorder is told in it, both are given again, ours in
// front: `env -i`, a wrapper that sets LD_PRELOAD, the clean environment of a subprocess. They are not given to a
// program that cannot load the recorder; from one of another C library they are taken, since its dynamic linker would
// end it.
//
// Sources  exec(3), posix_spawn(3), system(3), popen(3): these calls come by here, a raw system call does not.
// Cost     some 10 us a program that is started, and nothing else.
// Memory   the stack, since in a child of vfork(2) everything else is its parent's; where the new environment has more
//          than max_stack_entries variables and must be changed, a mapping.
// Errors   those of the real call. Without the file, or room in it, nothing is noted.
// Threads  any; async-signal-safe as execve(2) is, but for system and popen.
#pragma once

namespace memsweep::trace::recorder {

// Call once, before the program's own code.
void begin_noting_starts() noexcept;

}  // namespace memsweep::trace::recorder
