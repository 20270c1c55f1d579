// Follows the programs that the recorded program starts. If possible, these programs are recorded too. The user is told
// which of them are not recorded.
//
// Each exec and posix_spawn notes which program begins in which process (format/start_layout.hpp). The environment of
// the new program may lack the recorder's entry in LD_PRELOAD, or the recorder's variables. Examples are `env -i`, a
// wrapper that sets LD_PRELOAD, and a subprocess with a clean environment. In such an environment, both are added
// again, the entry at the front of LD_PRELOAD. Neither is added for a program that cannot load the recorder. Both are
// removed for a program that uses another C library, because the dynamic linker of that library would end the program.
//
// Sources  exec(3), posix_spawn(3), system(3), popen(3). Raw system calls are not seen.
// Cost     some 10 us for each program that is started.
// Memory   the stack, because a child of vfork(2) shares all other memory with its parent. If a changed environment
//          needs more than 8 x max_stack_entries bytes (16 KiB), it is built in a mapping of its own instead.
// Errors   those of the real call. If the file "starts" (format/start_layout.hpp) is missing or full, the start is not
//          noted.
// Threads  any; async-signal-safe like execve(2), except system and popen.
#pragma once

namespace memsweep::trace::recorder {

// Call this one time, before the program's own code runs.
void begin_noting_starts() noexcept;

}  // namespace memsweep::trace::recorder
