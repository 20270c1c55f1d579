// Tells from a program's file whether the dynamic linker would load the recorder into the program.
//
// Sources  ld.so(8): LD_PRELOAD is ignored in secure-execution mode. elf(5): only a program with an interpreter has a
//          dynamic linker. The recorder needs the dynamic linker of glibc; that of musl cannot load the recorder and
//          would end the program. For a script, the interpreter of the script is checked.
// Cost     three system calls, some 5 us.
// Errors   none: for a file that cannot be found or read, the result is `none`, because running the file gives a better
//          error. The function may change errno.
// Memory   none. This code needs only the C library. It is safe in a child of vfork(2), because the recorder calls it
//          in such a child.
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
    no_file,     // a forked process that could not make its recording file; never returned by preload_obstacle()
};

[[nodiscard]] PreloadObstacle preload_obstacle(const char* path) noexcept;

// Returns the obstacle as text, to write behind a program's name and a colon: "ls: statically linked, ...". For `none`,
// returns an empty text.
[[nodiscard]] const char* describe(PreloadObstacle obstacle) noexcept;

}  // namespace memsweep::trace
