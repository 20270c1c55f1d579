// Reads files as text: whole files that a user names, and the files of the kernel in /proc and /sys.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/expected.hpp"
#include "core/base/text.hpp"
#include "core/sys/descriptor.hpp"

namespace memsweep::sys {

// The functions from here to with_slash() are for files in /proc and /sys.
//
// Units    bytes; "kB" in the kernel's texts is 1024 bytes.
// Memory   pread_text and the functions that return a string_view or a number allocate nothing, because they run in the
//          measured process.

using base::trimmed;

// Removes the first line from `text` and returns it. The last line may lack its newline.
[[nodiscard]] std::string_view take_line(std::string_view& text) noexcept;

// Removes the first word and the blanks around it from `text`, and returns the word. Empty: `text` has no more words.
[[nodiscard]] std::string_view take_word(std::string_view& text) noexcept;

// Returns the trimmed text after "key:" in the first line that begins with "key:". For key "Rss": "1644 kB". Absent:
// there is no such line. A last line without a newline is ignored, because its number may be incomplete.
[[nodiscard]] std::optional<std::string_view> find_field(std::string_view text, std::string_view key) noexcept;

// Returns the value of find_field() in bytes: "1644 kB" is 1683456. Absent: no such line, or no such number.
[[nodiscard]] std::optional<std::uint64_t> find_kib_field(std::string_view text, std::string_view key) noexcept;

// Returns the number in a line "key 123", the form of memory.stat. Absent: no such line, or no number.
[[nodiscard]] std::optional<std::uint64_t> find_counter(std::string_view text, std::string_view key) noexcept;

// Returns the numbers in a list such as "0-3,8": 0, 1, 2, 3, 8. Absent: the text is no such list.
[[nodiscard]] std::optional<std::vector<std::uint32_t>> parse_list(std::string_view list);

// Reads an open /proc file from its start, as much as fits into `buffer`. Absent, with errno set: the file cannot be
// read.
[[nodiscard]] std::optional<std::string_view> pread_text(int fd, std::span<char> buffer) noexcept;

// Reads a whole small file; absent: it cannot be read.
[[nodiscard]] std::optional<std::string> read_kernel_text(const std::string& path);
// Reads a whole small file and trims its text; "": it cannot be read.
[[nodiscard]] std::string read_word(const std::string& path);

// Adds a slash to the end of `root` if it has none. `root` is the folder that contains proc/ and sys/.
[[nodiscard]] std::string with_slash(const std::string& root);

// Returns an io error for `where` with the text of `errno_value`: "cannot write: No space left on device".
[[nodiscard]] base::Error io_error(std::string_view what, int errno_value, const std::string& where);

// Opens a file that a user names for reading; "-" is standard input. If the file is a FIFO, waits up to five seconds
// for a process that opens it for writing.
//
// Errors   io: it cannot be opened, or is a directory; timeout: a FIFO without a writer. `where` is the path, or
//          "standard input".
[[nodiscard]] base::Expected<UniqueFd> open_input(const std::string& path);

// Opens a regular file for reading. Returns an invalid descriptor if the path names anything else. It does not open a
// FIFO even for a moment, because the writer would take us for the reader and lose its data.
[[nodiscard]] UniqueFd open_regular_file(const std::string& path) noexcept;

// The largest text that is read from a pipe or a device, which may have no end. Real texts are shorter, and the memory
// of a small machine holds this much.
inline constexpr std::uint64_t largest_streamed_text_bytes = 64U << 20U;

// Reads a whole text file; "-" is standard input. A regular file may have up to `max_bytes`. A pipe or a device is read
// to its end, and may give up to `max_bytes` or largest_streamed_text_bytes, whichever is less. Reading stops with an
// error at the first zero byte, because no text has one. So /dev/zero or a sparse file is not read to its end.
//
// Errors   those of open_input; io: it cannot be read; invalid_input: it is too large, or it has a zero byte.
[[nodiscard]] base::Expected<std::string> read_file(const std::string& path, std::uint64_t max_bytes);

}  // namespace memsweep::sys
