// Demangles names of Rust's newer scheme, which begin with _R. Leaves out the hashes of crates.
//
// Sources  RFC 2603, and what the compiler has added since: constants that are texts, references, arrays, tuples and
//          structures. libiberty's demangler is not used: for a hostile name of 300 bytes it writes 1.6 GB, and cannot
//          be stopped.
// Cost     some us a name, and never more than some ms.
// Memory   at most 64 KiB, and the stack for up to 128 levels of nesting.
// Threads  any.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace memsweep::trace {

// nullopt: it is no such name, or it would exceed the bounds.
[[nodiscard]] std::optional<std::string> rust_name(std::string_view mangled);

}  // namespace memsweep::trace
