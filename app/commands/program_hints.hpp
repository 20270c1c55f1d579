// What to type instead, where a program cannot be started as it was given: a builtin of the shell, a variable in front,
// a script whose interpreter is missing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace memsweep::app {

// "; cd is a word of the shell: ..."; empty: nothing better is known. `command`: how memsweep was called, "run".
[[nodiscard]] std::string program_hint(const std::vector<std::string>& words, std::string_view command);

// Why a script that is there cannot be started: the interpreter that its first line names is missing, or ends in a
// carriage return. Empty: it is no script, or its interpreter is there.
[[nodiscard]] std::string missing_interpreter(const std::string& path);

// The library of AddressSanitizer that the program is linked to ("libasan.so.8"). It must be loaded before any other
// library, and ends the program otherwise. The recorder would be loaded before it. Empty: none, or no program of 64
// bits.
//
// Sources  elf(5): the entries DT_NEEDED of the dynamic section; GCC's libsanitizer/asan/asan_linux.cpp.
[[nodiscard]] std::string sanitizer_library(const std::string& path);

}  // namespace memsweep::app
