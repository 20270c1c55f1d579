// Decompresses a log, and reads it line by line or record by record. Also splits lines into fields.
//
// Cost     one copy and a search for line ends: some 5 GB/s. Splitting lines into fields allocates nothing.
// Memory   a buffer of 1 MiB by default, which grows with the longest line, to 16 MiB at most. The longest lines known
//          are the command lines in heaptrack's logs: on Linux they have at most 6 MiB.
// Errors   if the source fails, the text ends, and failure() says why. A line that is too long also ends the text;
//          how_it_ended() then returns LineEnd::too_long.
// Threads  one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/expected.hpp"
#include "core/base/text.hpp"

namespace memsweep::trace {

// A function that reads the next bytes of a log into `into`. It returns how many bytes it has read; 0: the log has
// ended.
using ReadMore = std::function<base::Expected<std::size_t>(std::span<char> into)>;

// Where a log comes from.
struct LogSource {
    ReadMore read;
    // Points to the number of bytes that have been read from the file so far, counted before decompression. Null:
    // nothing is decompressed, so these bytes are not counted.
    std::shared_ptr<const std::uint64_t> file_bytes{};
    std::string name{};  // for messages
};

// Opens a log; "-" is standard input. gzip and zstd are recognised by their first bytes and decompressed, even nested
// up to four layers deep. Reading fails if a layer gives more bytes than most_decompressed() allows (bounds.hpp). Zero
// bytes after the last gzip member or the last zstd frame are padding and are skipped. `piece_bytes`: how many bytes of
// a layer are read at a time; at least 4.
[[nodiscard]] base::Expected<LogSource> open_log(const std::string& path);
[[nodiscard]] ReadMore log_from_memory(std::string_view bytes);
[[nodiscard]] base::Expected<LogSource> decompressed(ReadMore source, const std::string& name,
                                                     std::size_t piece_bytes = 256 << 10);

// The text of a log. If it begins with the byte order mark of UTF-8, this mark is skipped.
class LogText {
  public:
    enum class LineEnd : std::uint8_t { newline, end_of_log, too_long };

    static constexpr std::size_t usual_buffer_bytes = 1 << 20;
    static constexpr std::size_t max_line_bytes = 16 << 20;

    // The buffer's size does not change the text, but it must not be 0. For a small log, a small buffer saves time.
    explicit LogText(LogSource source, std::size_t buffer_bytes = usual_buffer_bytes)
        : source_{std::move(source.read)}, file_bytes_{std::move(source.file_bytes)}, name_{std::move(source.name)},
          buffer_(buffer_bytes)
    {
    }
    explicit LogText(ReadMore source, std::size_t buffer_bytes = usual_buffer_bytes)
        : LogText{LogSource{std::move(source)}, buffer_bytes}
    {
    }

    // Returns the next `bytes` bytes (at most 16 MiB), which remain unread; fewer only at the end or after a failure.
    [[nodiscard]] std::string_view peek(std::size_t bytes);
    // Sets `line` to the next line without its line end. The text is valid until the next call. False: the log has
    // ended, or the line before was too long.
    [[nodiscard]] bool line(std::string_view& line);
    [[nodiscard]] std::uint64_t line_number() const noexcept { return line_number_; }
    // Says how the line ended that line() returned most recently. A carriage return at the end of the log counts as a
    // newline.
    [[nodiscard]] LineEnd how_it_ended() const noexcept { return line_end_; }
    // Reads the next `count` bytes, and returns them; fewer only at the end of the log. They are valid until the next
    // call.
    [[nodiscard]] std::string_view bytes(std::size_t count);
    [[nodiscard]] const std::optional<base::Error>& failure() const noexcept { return failure_; }

    // Says whether the caller may keep this many "things" (bounds.hpp) in memory. The limit is most_held_by_log() of
    // the bytes that have been read from the file so far; text that comes from no file has no limit. If the result is
    // false, the text ends, and failure() says why.
    bool may_hold(std::uint64_t things);
    // Returns the most things that the caller may keep: for callers that can limit themselves.
    [[nodiscard]] std::uint64_t most_held() const;

  private:
    [[nodiscard]] std::string_view rest() const noexcept { return {buffer_.data() + begin_, end_ - begin_}; }
    bool fill();
    bool read_more();

    ReadMore source_;
    std::shared_ptr<const std::uint64_t> file_bytes_;
    std::string name_;
    std::vector<char> buffer_;
    std::size_t begin_{};
    std::size_t end_{};
    std::uint64_t line_number_{};
    LineEnd line_end_{LineEnd::newline};
    bool begun_{};
    bool ended_{};
    std::optional<base::Error> failure_;
};

using base::parse_number;
using base::take_until;
using base::trimmed;

// Reads a pointer as printf writes it: "0x7f14" or "(nil)". Digits without 0x are hexadecimal, too. nullopt: the text
// is no such pointer.
[[nodiscard]] inline std::optional<std::uint64_t> parse_pointer(std::string_view text)
{
    if (text.starts_with("0x") || text.starts_with("0X")) {
        text.remove_prefix(2);
    }
    return text == "(nil)" || text == "nil" ? std::optional<std::uint64_t>{0} : parse_number(text, 16);
}

// Removes the last word from `rest`, and returns this word. Empty: `rest` has no word.
[[nodiscard]] inline std::string_view take_last_word(std::string_view& rest)
{
    rest = trimmed(rest);
    const std::size_t at = rest.rfind(' ');
    const std::string_view word = at == std::string_view::npos ? rest : rest.substr(at + 1);
    rest = at == std::string_view::npos ? std::string_view{} : rest.substr(0, at);
    return word;
}

[[nodiscard]] inline std::string_view first_line(std::string_view head)
{
    return head.substr(0, head.find('\n'));
}

// Says whether one line of `head` begins with `begin` and contains `text`. `head` is the beginning of a file, in which
// other output may precede the log.
[[nodiscard]] bool has_line_with(std::string_view head, std::string_view begin, std::string_view text);

}  // namespace memsweep::trace
