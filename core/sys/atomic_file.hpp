// Files that are either the old ones or the new ones, whole, whatever happens in between.
//
// Errors   io: `where` is the path, the message names the cause ("cannot write: No space left on device").
// Threads  any number; of two that write one path, the later wins.
// Ownership  a failure leaves nothing behind; a SIGKILL in between leaves ".memsweep-*.partial" in the directory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/base/expected.hpp"
#include "core/sys/read_file.hpp"

namespace memsweep::sys {

// A content too long for memory: hands over its pieces in order, until one is not taken.
using PieceTaker = std::function<bool(std::string_view)>;
using Content = std::function<void(const PieceTaker&)>;

// Writes a new file in the same directory, flushes it to the disk and renames it over `path`. It has the permissions
// of the file it replaces (whose owner it keeps where that is allowed), or those that the umask leaves; a file that is
// write-protected is refused, as a plain write would. A symbolic link stays, and what it points at is replaced. What is
// no regular file (a pipe, a device) is written straight through; "-", /dev/stdout, /dev/stderr and /dev/fd/N are the
// descriptors themselves.
[[nodiscard]] base::Expected<void> write_file_atomically(const std::string& path, const Content& content);
[[nodiscard]] base::Expected<void> write_file_atomically(const std::string& path, std::string_view content);

// Shows that write_file_atomically is going to work, before hours are spent on what it is to write: makes missing
// directories (the one thing that stays, on success), makes a temporary file and reserves `expected_bytes` for it.
// An existing file is not touched.
[[nodiscard]] base::Expected<void> check_writable(const std::string& path, std::uint64_t expected_bytes);

}  // namespace memsweep::sys
