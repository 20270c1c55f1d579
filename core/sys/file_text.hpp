// Files as text: whole files that a user names, and what the kernel prints in /proc and /sys.
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

// Reading what the kernel prints in /proc and /sys.
//
// Units    bytes; "kB" in the kernel's texts is 1024 bytes.
// Memory   functions over string_view and pread_text allocate nothing: probes are built on them.
using base::trimmed;

// The first line of `text`, taken off it. A last line without its newline counts.
[[nodiscard]] std::string_view take_line(std::string_view& text) noexcept;

// The first word of `text`, taken off it together with the blanks around; empty at the end.
[[nodiscard]] std::string_view take_word(std::string_view& text) noexcept;

// The text after "key:" in the first complete line that starts so, trimmed ("1644 kB" for "Rss"). A line that the end
// of the text cuts off does not count: its number may be cut as well.
[[nodiscard]] std::optional<std::string_view> find_field(std::string_view text, std::string_view key) noexcept;

// The same as bytes: "1644 kB" is 1683456.
[[nodiscard]] std::optional<std::uint64_t> find_kib_field(std::string_view text, std::string_view key) noexcept;

// The number in a line "key 123", as memory.stat has them.
[[nodiscard]] std::optional<std::uint64_t> find_counter(std::string_view text, std::string_view key) noexcept;

// The numbers in a list such as "0-3,8"; empty: it is no such list.
[[nodiscard]] std::optional<std::vector<std::uint32_t>> parse_list(std::string_view list);

// Reads an open /proc file from its start, as much as fits; empty with errno set on failure.
[[nodiscard]] std::optional<std::string_view> pread_text(int fd, std::span<char> buffer) noexcept;

// A whole small file; empty when it cannot be read. read_word: its text without surrounding blanks, "" when unreadable.
[[nodiscard]] std::optional<std::string> read_kernel_text(const std::string& path);
[[nodiscard]] std::string read_word(const std::string& path);

// The folder below which /proc and /sys lie, with a slash at its end.
[[nodiscard]] std::string with_slash(const std::string& root);

// An io error for `where` with errno's text: "cannot write: No space left on device".
[[nodiscard]] base::Error io_error(std::string_view what, int errno_value, const std::string& where);

// Opens a file that a user names, to read; "-" is standard input. For a FIFO it waits until somebody opens it to write,
// but not for ever: nobody might.
//
// Errors   io: it cannot be opened, or is a directory; timeout: a FIFO without a writer. `where` is the path, or
//          "standard input".
[[nodiscard]] base::Expected<UniqueFd> open_input(const std::string& path);

// Opens a regular file to read; invalid for everything else. A FIFO is not even opened: its writer would take us for a
// reader, and write to nobody.
[[nodiscard]] UniqueFd open_regular_file(const std::string& path) noexcept;

// The limit for a text that is no regular file, and so may have no end. No program passes on a longer text, and a small
// machine's memory holds this much.
inline constexpr std::uint64_t largest_streamed_text_bytes = 64U << 20U;

// Reads a whole text into a string. A text holds no zero byte, so the first one ends the reading. So neither a device
// nor a file of holes is read to its end.
//
// Errors   those of open_input; io: it cannot be read; invalid_input: it is larger than allowed, or no text.

// "-" is standard input. Pipes and other files without a size are read to their end, up to `max_bytes` or to
// largest_streamed_text_bytes.
[[nodiscard]] base::Expected<std::string> read_file(const std::string& path, std::uint64_t max_bytes);

}  // namespace memsweep::sys
