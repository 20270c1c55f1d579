// Tells from a program's file whether the dynamic linker would load the recorder into the program.
//
// Sources  ld.so(8): LD_PRELOAD is ignored in secure-execution mode. elf(5): only a program with an interpreter has a
//          dynamic linker. The recorder needs glibc's; musl's cannot load it and would end the program. For a
//          script, the interpreter of the script is checked.
// Cost     three system calls, some 5 us.
// Errors   none: a file that cannot be found or read is no obstacle, because running it gives a better error. The
//          function may change errno.
// Memory   none. It needs only the C library, and is safe in a child of vfork(2), because the recorder uses it there.
#pragma once

#include <cstdint>

namespace memsweep::trace {

enum class PreloadObstacle : std::uint32_t {
    none = 0,
    statically_linked,
    other_machine,  // a 32-bit program, or one for another processor
    other_loader,   // the dynamic linker of another C library, such as musl
    privileges,     // set-user-ID, set-group-ID or file capabilities
    own_malloc,  // the program has its own malloc, so the recorder sees no calls; never returned by preload_obstacle()
    no_file,     // a forked process that could make no file to record in; never returned by preload_obstacle() either
};

[[nodiscard]] PreloadObstacle preload_obstacle(const char* path) noexcept;

// The reason as text, to follow a program's name and a colon.
[[nodiscard]] const char* describe(PreloadObstacle obstacle) noexcept;

}  // namespace memsweep::trace
