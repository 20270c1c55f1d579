// Rust's newer mangled names, which begin with _R, as people read them: without the hashes of crates.
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

// Nothing: it is no such name, or one that means more than the bounds allow.
[[nodiscard]] std::optional<std::string> rust_name(std::string_view mangled);

}  // namespace memsweep::trace
