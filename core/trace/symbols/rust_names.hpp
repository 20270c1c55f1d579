// Demangles Rust's newer names, which begin with _R. The hashes of crates are left out.
//
// Sources  RFC 2603, and what the compiler has added since: constants that are texts, references, arrays, tuples and
//          structures. libiberty writes 1.6 GB for a hostile name of 300 bytes, and cannot be stopped.
// Cost     some us a name; at most some ms for any.
// Memory   64 KiB; the stack for 128 things within each other.
// Threads  any.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace memsweep::trace {

// Empty: it is no such name, or it would exceed the bounds.
[[nodiscard]] std::optional<std::string> rust_name(std::string_view mangled);

}  // namespace memsweep::trace
