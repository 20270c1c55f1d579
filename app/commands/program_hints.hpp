// Hints for a program that cannot be started as typed: a shell builtin, a variable assignment in front of it, or a
// script whose interpreter is missing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace memsweep::app {

// The hint to append to the error: "; cd is a word of the shell: ..."; empty: there is none. `command`: the command of
// memsweep, such as "run".
[[nodiscard]] std::string program_hint(const std::vector<std::string>& words, std::string_view command);

// Why an existing script cannot be started: the interpreter in its first line is missing, or the interpreter's name
// ends in a carriage return. Empty: the file is no script, or its interpreter exists.
[[nodiscard]] std::string missing_interpreter(const std::string& path);

// The AddressSanitizer library that the program is linked to ("libasan.so.8"). The library ends the program unless it
// is loaded first, and the preloaded recorder would be loaded before it. Empty: not linked to one, or not a 64-bit
// program.
//
// Sources  elf(5): the entries DT_NEEDED of the dynamic section; GCC's libsanitizer/asan/asan_linux.cpp.
[[nodiscard]] std::string sanitizer_library(const std::string& path);

}  // namespace memsweep::app
