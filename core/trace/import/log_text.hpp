// The bytes of a log, decompressed, line by line or record by record.
//
// Cost     one copy and a search for line ends: some 5 GB/s.
// Memory   1 MiB, and the longest line up to 16 MiB; a longer one is cut.
// Errors   a source that fails ends the text, and failure() says why.
// Threads  one.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/expected.hpp"

namespace memsweep::trace {

// The next bytes, as many as are at hand; 0 at the end.
using ReadMore = std::function<base::Expected<std::size_t>(std::span<char> into)>;

// "-" is standard input. gzip and zstd are recognised by their first bytes and decompressed.
[[nodiscard]] base::Expected<ReadMore> open_log(const std::string& path);
[[nodiscard]] ReadMore log_from_memory(std::string_view bytes);
[[nodiscard]] base::Expected<ReadMore> decompressed(ReadMore source, const std::string& name);

class LogText {
  public:
    explicit LogText(ReadMore source) : source_{std::move(source)} {}

    // The first bytes, at most so many; nothing is consumed.
    [[nodiscard]] std::string_view peek(std::size_t bytes);
    // The next line without its end, valid until the next call; false at the end.
    [[nodiscard]] bool line(std::string_view& line);
    [[nodiscard]] std::uint64_t line_number() const noexcept { return line_number_; }
    // Exactly so many bytes, valid until the next call; fewer at the end.
    [[nodiscard]] std::string_view bytes(std::size_t count);
    [[nodiscard]] const std::optional<base::Error>& failure() const noexcept { return failure_; }

  private:
    [[nodiscard]] std::string_view rest() const noexcept { return {buffer_.data() + begin_, end_ - begin_}; }
    bool fill();

    ReadMore source_;
    std::vector<char> buffer_ = std::vector<char>(1 << 20);
    std::size_t begin_{};
    std::size_t end_{};
    std::uint64_t line_number_{};
    bool ended_{};
    std::optional<base::Error> failure_;
};

}  // namespace memsweep::trace
