// Says whether the dynamic linker would load the recorder into a program, as far as the program's file tells.
//
// Sources  ld.so(8): LD_PRELOAD is ignored in secure-execution mode. elf(5): only a program with an interpreter has a
//          dynamic linker. The recorder is made for glibc's; musl's would end the program over it. For a script, its
//          interpreter is looked at.
// Cost     three system calls, some 5 us.
// Errors   none: a file that cannot be read or found is no obstacle, because running it will say more. errno may
//          change.
// Memory   none, and the C library alone: the recorder compiles this in, and asks in a child of vfork(2).
#pragma once

#include <cstdint>

namespace memsweep::trace {

enum class PreloadObstacle : std::uint32_t {
    none = 0,
    statically_linked,
    other_machine,  // 32-bit, or of another processor
    other_loader,
    privileges,  // set-user-ID, set-group-ID or file capabilities
    own_malloc,  // the recorder is loaded and sees no calls; the recorder tells, no file does
};

[[nodiscard]] PreloadObstacle preload_obstacle(const char* path) noexcept;

// Why it stands in the way, as a text to put behind a program's name and a colon.
[[nodiscard]] const char* describe(PreloadObstacle obstacle) noexcept;

}  // namespace memsweep::trace
