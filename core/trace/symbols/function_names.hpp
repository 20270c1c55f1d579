// Names of functions as people read them, and what kind of function one is, by its name.
//
// Cost     some 100 ns to 2 us a name.
// Threads  any.
#pragma once

#include <string>
#include <string_view>

namespace memsweep::trace {

// C++ and both of Rust's schemes; whatever else stays as it is.
[[nodiscard]] std::string demangled(std::string_view name);

// The function without what it returns and takes: "std::vector<int>::push_back" of
// "void std::vector<int>::push_back(int const&)".
[[nodiscard]] std::string_view bare_name(std::string_view function);

enum class FunctionRole {
    program,
    library,    // the standard library of C++ or Rust: containers, strings, streams
    allocator,  // malloc and its like, operator new, std::allocator, PyTorch's caching allocator
};
[[nodiscard]] FunctionRole role_of(std::string_view function);

}  // namespace memsweep::trace
