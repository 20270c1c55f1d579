// Starts a program under another malloc.
//
// The program's malloc comes from the specification alone: what our own environment says of allocators, LD_PRELOAD
// included, stays behind. The dynamic linker only warns of a library that it cannot load, so who really serves malloc
// must be asked in the program (serving_library).
#pragma once

#include <string>

#include "core/model/allocator.hpp"
#include "core/sys/child_process.hpp"

namespace memsweep::sys {

// Nothing for a specification without a name.
void put_under(const model::AllocatorSpec& allocator, SpawnOptions& spawn);

// What serving_library() answers when put_under had its way.
[[nodiscard]] std::string expected_library(const model::AllocatorSpec& allocator);

}  // namespace memsweep::sys
