// Whether a library can be preloaded into a program, found out before it is run: the dynamic linker says nothing.
//
// Sources  ld.so(8): LD_PRELOAD is ignored in secure-execution mode; elf(5): only a program with an interpreter has a
//          dynamic linker; of a script its interpreter is asked, and of env(1) what it runs.
// Errors   not_supported: why not (`where` is the program). What cannot be read, or is not found, is no error: running
// it
//          will say more.
#pragma once

#include <string>
#include <vector>

#include "core/base/expected.hpp"

namespace memsweep::sys {

[[nodiscard]] base::Expected<void> can_be_preloaded(const std::vector<std::string>& argv);

// As execvp finds it; empty when it does not.
[[nodiscard]] std::string find_program(const std::string& name);

}  // namespace memsweep::sys
