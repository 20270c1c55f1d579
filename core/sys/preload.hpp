// Starts a program under another malloc.
//
// The program's malloc comes from the specification alone: what our own environment says of allocators, LD_PRELOAD
// included, stays behind. The dynamic linker only warns of a library that it cannot load, so who really serves malloc
// must be asked in the program (serving_library).
#pragma once

#include <string>
#include <vector>

#include "core/base/expected.hpp"
#include "core/model/allocator.hpp"
#include "core/sys/child_process.hpp"

namespace memsweep::sys {

// Nothing for a specification without a name.
void put_under(const model::AllocatorSpec& allocator, SpawnOptions& spawn);

// What serving_library() answers when put_under had its way.
[[nodiscard]] std::string expected_library(const model::AllocatorSpec& allocator);

// Whether a library can be preloaded into a program, found out before it is run: the dynamic linker says nothing.
//
// Sources  ld.so(8): LD_PRELOAD is ignored in secure-execution mode; elf(5): only a program with an interpreter has a
//          dynamic linker; of a script its interpreter is asked, and of env(1) what it runs.
// Errors   not_supported: why not (`where` is the program). What cannot be read, or is not found, is no error: running
//          it will say more.
[[nodiscard]] base::Expected<void> can_be_preloaded(const std::vector<std::string>& argv);

// As execvp finds it; empty when it does not.
[[nodiscard]] std::string find_program(const std::string& name);

}  // namespace memsweep::sys
