// Follows the programs that the recorded program starts, so that they are recorded too, or that `memsweep record` knows
// which are not.
//
// Each exec and posix_spawn notes which program begins in which process (format/start_layout.hpp). The environment of
// the new program may lack the recorder's entry in LD_PRELOAD, or the recorder's variables. Examples are `env -i`, a
// wrapper that sets LD_PRELOAD, and a subprocess with a clean environment. Then both are added again, the recorder's
// entry in front. They are not added for a program that cannot load the recorder. They are removed for a program that
// uses another C library, because its dynamic linker would end it.
//
// Sources  exec(3), posix_spawn(3), system(3), popen(3). Raw system calls are not seen.
// Cost     some 10 us for each program that is started, and nothing else.
// Memory   the stack, because a child of vfork(2) shares all other memory with its parent. An environment that must be
//          changed and has more than max_stack_entries variables takes a mapping.
// Errors   those of the real call. Without the file, or room in it, nothing is noted.
// Threads  any; async-signal-safe like execve(2), except system and popen.
#pragma once

namespace memsweep::trace::recorder {

// Call once, before the program's own code.
void begin_noting_starts() noexcept;

}  // namespace memsweep::trace::recorder
