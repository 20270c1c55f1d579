// Where an allocator's library lies on this machine, and who serves malloc in this process.
//
// Sources  the C library's own folder and the usual ones, LD_LIBRARY_PATH first; dladdr on the malloc in use.
// Errors   invalid_input: the library is not there, or no shared library; the message names the package to install.
#pragma once

#include <string>

#include "core/base/expected.hpp"
#include "core/model/allocator.hpp"

namespace memsweep::sys {

// The path to preload; empty for the C library's own malloc.
[[nodiscard]] base::Expected<std::string> find_allocator_library(const std::string& name);

// The file that malloc comes from.
[[nodiscard]] std::string serving_library();

// Whether two paths name one file.
[[nodiscard]] bool is_same_file(const std::string& one, const std::string& other);

// The C library itself.
[[nodiscard]] std::string c_library();

}  // namespace memsweep::sys
