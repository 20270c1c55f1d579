// Hints for a command line that cannot be started as typed: its program is a shell builtin, a variable assignment
// stands in front of the program, or the program is a script whose interpreter is missing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace memsweep::app {

// Returns the hint to append to the error, such as "; cd is a word of the shell: ..."; empty: there is no hint.
// `command`: the command of memsweep, such as "run".
[[nodiscard]] std::string program_hint(const std::vector<std::string>& words, std::string_view command);

// Returns why an existing script cannot be started: the interpreter in its first line is missing, or the interpreter's
// name ends in a carriage return. Empty: the file is no script, or its interpreter exists.
[[nodiscard]] std::string missing_interpreter(const std::string& path);

// Returns the AddressSanitizer library that the program is linked to ("libasan.so.8"); empty: the program is linked to
// none, or it is not a 64-bit program. This library ends the program unless it is the first library to be loaded, and
// the preloaded recorder would be loaded before it.
//
// Sources  elf(5): the entries DT_NEEDED of the dynamic section; GCC's libsanitizer/asan/asan_linux.cpp.
[[nodiscard]] std::string sanitizer_library(const std::string& path);

}  // namespace memsweep::app
