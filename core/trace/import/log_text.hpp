// The bytes of a log, decompressed, line by line or record by record, and the fields of its lines.
//
// Cost     one copy and a search for line ends: some 5 GB/s. Fields allocate nothing.
// Memory   1 MiB unless told otherwise, and the longest line, up to 16 MiB. heaptrack writes a command line into one
//          line; on Linux that has at most 6 MiB.
// Errors   if the source fails, the text ends, and failure() says why. A line that is too long ends it too;
//          how_it_ended() says so.
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

// Reads the next bytes, as many as are at hand; 0 at the end.
using ReadMore = std::function<base::Expected<std::size_t>(std::span<char> into)>;

// Where a log comes from.
struct LogSource {
    ReadMore read;
    // The bytes read of the file itself, before decompression. Null: nothing is compressed, and nobody counts.
    std::shared_ptr<const std::uint64_t> file_bytes{};
    std::string name{};  // for messages
};

// Opens a log; "-" is standard input. gzip and zstd are recognised by their first bytes and decompressed, also one
// within the other (four layers at most). At most most_decompressed() of bounds.hpp comes out. Zeroes behind the last
// member of gzip or frame of zstd are padding. `piece_bytes`: each layer is read so many bytes at a time, at least 4.
[[nodiscard]] base::Expected<LogSource> open_log(const std::string& path);
[[nodiscard]] ReadMore log_from_memory(std::string_view bytes);
[[nodiscard]] base::Expected<LogSource> decompressed(ReadMore source, const std::string& name,
                                                     std::size_t piece_bytes = 256 << 10);

// The text of a log. Skips the byte order mark of UTF-8 at its beginning.
class LogText {
  public:
    enum class LineEnd : std::uint8_t { newline, end_of_log, too_long };

    static constexpr std::size_t usual_buffer_bytes = 1 << 20;
    static constexpr std::size_t max_line_bytes = 16 << 20;

    // A buffer of any size but 0 gives the same text. For a small log, a small one is made sooner.
    explicit LogText(LogSource source, std::size_t buffer_bytes = usual_buffer_bytes)
        : source_{std::move(source.read)}, file_bytes_{std::move(source.file_bytes)}, name_{std::move(source.name)},
          buffer_(buffer_bytes)
    {
    }
    explicit LogText(ReadMore source, std::size_t buffer_bytes = usual_buffer_bytes)
        : LogText{LogSource{std::move(source)}, buffer_bytes}
    {
    }

    // The first bytes, at most this many; nothing is consumed.
    [[nodiscard]] std::string_view peek(std::size_t bytes);
    // The next line without its end, valid until the next call; false at the end. No line follows one that is too long.
    [[nodiscard]] bool line(std::string_view& line);
    [[nodiscard]] std::uint64_t line_number() const noexcept { return line_number_; }
    // The end of the last line that line() returned. A carriage return at the end of the log counts as a newline.
    [[nodiscard]] LineEnd how_it_ended() const noexcept { return line_end_; }
    // Exactly this many bytes, valid until the next call; fewer at the end.
    [[nodiscard]] std::string_view bytes(std::size_t count);
    [[nodiscard]] const std::optional<base::Error>& failure() const noexcept { return failure_; }

    // Whether so many things may be held, given what has been read of the file (most_held_by_log() of bounds.hpp).
    // False ends the text, and failure() says why.
    bool may_hold(std::uint64_t things);
    // How many things may be held, for callers that can do with fewer.
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

// A pointer as printf writes it: "0x7f14" or "(nil)". Digits without 0x are hexadecimal too.
[[nodiscard]] inline std::optional<std::uint64_t> parse_pointer(std::string_view text)
{
    if (text.starts_with("0x") || text.starts_with("0X")) {
        text.remove_prefix(2);
    }
    return text == "(nil)" || text == "nil" ? std::optional<std::uint64_t>{0} : parse_number(text, 16);
}

// Takes the last word off the end.
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

// Whether one of the first lines of a log has this beginning and contains this text. Other output may precede the log.
[[nodiscard]] bool has_line_with(std::string_view head, std::string_view begin, std::string_view text);

}  // namespace memsweep::trace
