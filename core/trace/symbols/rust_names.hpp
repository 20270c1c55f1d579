// Demangles names of Rust's newer scheme, which begin with _R. Leaves out the hashes of crates.
//
// Sources  RFC 2603, and what the compiler has added since: constants of the kinds text, reference, array, tuple and
//          structure. libiberty's demangler is not used, because it writes 1.6 GB for a hostile name of 300 bytes, and
//          cannot be stopped.
// Cost     a few microseconds for each name, never more than a few milliseconds.
// Memory   at most 64 KiB, and the stack for up to 128 levels of nesting.
// Threads  any.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace memsweep::trace {

// nullopt: the name is not of this scheme, or its text or its nesting would exceed the limits above.
[[nodiscard]] std::optional<std::string> rust_name(std::string_view mangled);

}  // namespace memsweep::trace
