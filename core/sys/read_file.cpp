#include "core/sys/read_file.hpp"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/sys/unique_fd.hpp"
#include "core/sys/wait_ready.hpp"

namespace memsweep::sys {
namespace {

tl::unexpected<base::Error> unreadable(const std::string& where, int error)
{
    base::Error failure = base::os_error("cannot read", error, where);
    failure.code = base::ErrorCode::io;
    return base::fail(std::move(failure));
}

tl::unexpected<base::Error> too_large(const std::string& where, std::uint64_t max_bytes)
{
    return base::fail(base::ErrorCode::invalid_input,
                      fmt::format("larger than {}, the most that is read here", base::exact_size(max_bytes)), where);
}

base::Expected<std::string> read_all(int fd, const std::string& where, std::uint64_t max_bytes)
{
    struct stat file {};
    if (::fstat(fd, &file) != 0) {
        return unreadable(where, errno);
    }
    if (S_ISDIR(file.st_mode)) {
        return unreadable(where, EISDIR);
    }
    const auto size = static_cast<std::uint64_t>(file.st_size);
    if (S_ISREG(file.st_mode) && size > max_bytes) {
        return too_large(where, max_bytes);
    }
    std::string text;
    text.reserve(S_ISREG(file.st_mode) ? size : 0);
    std::array<char, 65536> block;
    while (true) {
        const ssize_t got = retry_interrupted([&] { return ::read(fd, block.data(), block.size()); });
        if (got < 0) {
            return unreadable(where, errno);
        }
        if (got == 0) {
            return text;
        }
        if (static_cast<std::uint64_t>(got) > max_bytes - text.size()) {
            return too_large(where, max_bytes);
        }
        text.append(block.data(), static_cast<std::size_t>(got));
    }
}

}  // namespace

base::Expected<std::string> read_file(const std::string& path, std::uint64_t max_bytes)
{
    if (path == "-") {
        return read_all(STDIN_FILENO, "standard input", max_bytes);
    }
    const UniqueFd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    if (!file.valid()) {
        return unreadable(path, errno);
    }
    return read_all(file.get(), path, max_bytes);
}

}  // namespace memsweep::sys
