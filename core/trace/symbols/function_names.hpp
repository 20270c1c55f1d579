// Makes names of functions readable, and tells a function's role by its name.
//
// Cost     some 100 ns to 2 us a name.
// Threads  any.
#pragma once

#include <string>
#include <string_view>

namespace memsweep::trace {

// Demangles names of C++ and of both of Rust's schemes. Other names stay as they are.
[[nodiscard]] std::string demangled(std::string_view name);

// Returns the name without return type and parameters: "std::vector<int>::push_back" for "void
// std::vector<int>::push_back(int const&)".
[[nodiscard]] std::string_view bare_name(std::string_view function);

enum class FunctionRole {
    program,
    library,    // the standard library of C++ or Rust: containers, strings, streams
    allocator,  // malloc and similar functions, operator new, std::allocator, PyTorch's caching allocator
};
[[nodiscard]] FunctionRole role_of(std::string_view function);

}  // namespace memsweep::trace
