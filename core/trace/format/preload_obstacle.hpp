// Whether the dynamic linker loads the recorder into a program, as far as its file tells.
//
// Sources  ld.so(8): LD_PRELOAD is ignored in secure-execution mode; elf(5): only a program with an interpreter has a
//          dynamic linker, and the recorder is made for that of glibc: musl's ends the program over it. Of a script its
//          interpreter is asked.
// Cost     three system calls, some 5 us.
// Errors   none: what cannot be read or is not found is no obstacle, running it will say more. errno may change.
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
    own_malloc,  // it is loaded, and nothing comes by: no file tells, the recorder does
};

[[nodiscard]] PreloadObstacle preload_obstacle(const char* path) noexcept;

// Why it stands in the way, to go behind a program's name and a colon.
[[nodiscard]] const char* describe(PreloadObstacle obstacle) noexcept;

}  // namespace memsweep::trace
