#include "core/sys/file_text.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>

#include <fmt/format.h>

#include "core/base/checked.hpp"
#include "core/base/quantity.hpp"
#include "core/sys/descriptor.hpp"

namespace memsweep::sys {
namespace {

struct Range {
    std::uint64_t first{};
    std::uint64_t last{};
};

// "0-3" or "8", taken off a list together with its comma.
std::optional<Range> take_range(std::string_view& list) noexcept
{
    const std::string_view range = base::take_until(list, ',');
    const std::size_t dash = range.find('-');
    const auto first = base::parse_number(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : base::parse_number(range.substr(dash + 1));
    return first && last && *first <= *last ? std::optional{Range{*first, *last}} : std::nullopt;
}

constexpr std::string_view blanks = " \t\r\n";
constexpr std::size_t largest_text_bytes = 16U << 20;  // /proc/cpuinfo of 8192 cpus takes about 12 MiB

}  // namespace

std::string_view take_line(std::string_view& text) noexcept
{
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return line;
}

std::string_view take_word(std::string_view& text) noexcept
{
    text = trimmed(text);
    const std::size_t end = text.find_first_of(blanks);
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(word.size());
    text = trimmed(text);
    return word;
}

std::optional<std::string_view> find_field(std::string_view text, std::string_view key) noexcept
{
    for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
        std::string_view line = text.substr(0, end);
        text.remove_prefix(end + 1);
        if (line.starts_with(key)) {
            line = trimmed(line.substr(key.size()));
            if (line.starts_with(':')) {
                return trimmed(line.substr(1));
            }
        }
    }
    return std::nullopt;
}

std::optional<std::uint64_t> find_kib_field(std::string_view text, std::string_view key) noexcept
{
    auto value = find_field(text, key);
    if (!value || !value->ends_with(" kB")) {
        return std::nullopt;
    }
    const auto kib = base::parse_number(take_word(*value));
    return kib ? base::checked_mul(*kib, 1024) : std::nullopt;
}

std::optional<std::uint64_t> find_counter(std::string_view text, std::string_view key) noexcept
{
    while (!text.empty()) {
        std::string_view line = take_line(text);
        if (take_word(line) == key) {
            return base::parse_number(line);
        }
    }
    return std::nullopt;
}

std::optional<std::vector<std::uint32_t>> parse_list(std::string_view list)
{
    constexpr std::uint64_t limit = 1U << 20;
    std::vector<std::uint32_t> numbers;
    while (!list.empty()) {
        const auto range = take_range(list);
        if (!range || range->last >= limit) {
            return std::nullopt;
        }
        for (std::uint64_t number = range->first; number <= range->last; ++number) {
            numbers.push_back(static_cast<std::uint32_t>(number));
        }
    }
    return numbers;
}

std::optional<std::string_view> pread_text(int fd, std::span<char> buffer) noexcept
{
    const ssize_t got = retry_interrupted([&] { return ::pread(fd, buffer.data(), buffer.size(), 0); });
    if (got < 0) {
        return std::nullopt;
    }
    return std::string_view{buffer.data(), static_cast<std::size_t>(got)};
}

std::optional<std::string> read_kernel_text(const std::string& path)
{
    const UniqueFd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    std::string text;
    std::array<char, 4096> block{};
    while (file.valid() && text.size() < largest_text_bytes) {
        const ssize_t got = retry_interrupted([&] { return ::read(file.get(), block.data(), block.size()); });
        if (got < 0) {
            return std::nullopt;
        }
        if (got == 0) {
            return text;
        }
        text.append(block.data(), static_cast<std::size_t>(got));
    }
    return std::nullopt;
}

std::string read_word(const std::string& path)
{
    return std::string{trimmed(read_kernel_text(path).value_or(""))};
}

std::string with_slash(const std::string& root)
{
    return root.ends_with('/') ? root : root + "/";
}

base::Error io_error(std::string_view what, int errno_value, const std::string& where)
{
    base::Error error = base::os_error(what, errno_value, where);
    error.code = base::ErrorCode::io;
    return error;
}

namespace {

constexpr std::chrono::seconds longest_wait_for_a_writer{5};  // whoever writes into a FIFO is started beside its reader

tl::unexpected<base::Error> unreadable(const std::string& where, int error)
{
    return base::fail(io_error("cannot read", error, where));
}

// tee(2) takes nothing out of the pipe, and says 0 where no writer has it open.
bool has_writer(int fifo)
{
    std::array<int, 2> ends{-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        return true;
    }
    const UniqueFd out{ends[0]};
    const UniqueFd in{ends[1]};
    return ::tee(fifo, in.get(), 1, SPLICE_F_NONBLOCK) != 0;
}

base::Expected<void> wait_for_a_writer(int fifo, const std::string& where)
{
    if (!MEMSWEEP_TRY(wait_readable(fifo, longest_wait_for_a_writer)) && !has_writer(fifo)) {
        return base::fail(base::ErrorCode::timeout,
                          fmt::format("nobody has opened this FIFO to write for {} s: start its writer first, or give "
                                      "a file",
                                      longest_wait_for_a_writer.count()),
                          where);
    }
    return {};
}

base::Expected<std::string> read_all(int fd, const std::string& where, std::uint64_t max_bytes)
{
    struct stat file {};
    if (::fstat(fd, &file) != 0) {
        return unreadable(where, errno);
    }
    const bool is_regular = S_ISREG(file.st_mode);
    const auto size = static_cast<std::uint64_t>(file.st_size);
    const std::uint64_t most = is_regular ? max_bytes : std::min(max_bytes, largest_streamed_text_bytes);
    const auto too_large = [&] {
        return base::fail(base::ErrorCode::invalid_input,
                          fmt::format("larger than {}, the most that is read {}", base::exact_size(most),
                                      most == max_bytes ? "here" : "of what is no file: save it to a file first"),
                          where);
    };
    if (is_regular && size > most) {
        return too_large();
    }
    std::string text;
    std::array<char, 65536> block;
    while (true) {
        const ssize_t got = retry_interrupted([&] { return ::read(fd, block.data(), block.size()); });
        if (got < 0) {
            return unreadable(where, errno);
        }
        if (got == 0) {
            return text;
        }
        const std::string_view piece{block.data(), static_cast<std::size_t>(got)};
        if (const std::size_t zero = piece.find('\0'); zero != std::string_view::npos) {
            return base::fail(base::ErrorCode::invalid_input,
                              fmt::format("is no text: byte {} is a zero", text.size() + zero + 1), where);
        }
        if (piece.size() > most - text.size()) {
            return too_large();
        }
        if (text.empty() && is_regular) {
            text.reserve(std::max<std::size_t>(size, piece.size()));
        }
        text.append(piece);
    }
}

}  // namespace

base::Expected<UniqueFd> open_input(const std::string& path)
{
    const bool is_stdin = path == "-";
    const std::string where = is_stdin ? "standard input" : path;
    UniqueFd file{is_stdin ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                           : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)};
    struct stat facts {};
    if (!file.valid() || ::fstat(file.get(), &facts) != 0) {
        return unreadable(where, errno);
    }
    if (S_ISDIR(facts.st_mode)) {
        return unreadable(where, EISDIR);
    }
    if (!is_stdin) {
        if (S_ISFIFO(facts.st_mode)) {
            MEMSWEEP_TRY(wait_for_a_writer(file.get(), where));
        }
        const int flags = ::fcntl(file.get(), F_GETFL);
        if (flags < 0 || ::fcntl(file.get(), F_SETFL, flags & ~O_NONBLOCK) != 0) {
            return unreadable(where, errno);
        }
    }
    return file;
}

UniqueFd open_regular_file(const std::string& path) noexcept
{
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) {
        return {};
    }
    UniqueFd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)};
    return ::fstat(file.get(), &facts) == 0 && S_ISREG(facts.st_mode) ? std::move(file) : UniqueFd{};
}

base::Expected<std::string> read_file(const std::string& path, std::uint64_t max_bytes)
{
    const UniqueFd file = MEMSWEEP_TRY(open_input(path));
    return read_all(file.get(), path == "-" ? "standard input" : path, max_bytes);
}

}  // namespace memsweep::sys
