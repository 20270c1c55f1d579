#include "core/sys/output_target.hpp"

#include <array>
#include <cerrno>
#include <climits>
#include <string_view>
#include <utility>

#include <unistd.h>

#include "core/sys/proc_text.hpp"

namespace memsweep::sys {
namespace {

constexpr int most_links = 40;  // the kernel's own limit

std::string parent_of(const std::string& path)
{
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) {
        return ".";
    }
    return slash == 0 ? "/" : path.substr(0, slash);
}

// Opening /dev/stdout again would start at offset 0 of a redirected file and overwrite what stands there; renaming over
// it would leave the shell's descriptor pointing at the old file. So such names mean the descriptor itself.
std::optional<int> as_descriptor(std::string_view path)
{
    if (path == "-" || path == "/dev/stdout") {
        return STDOUT_FILENO;
    }
    if (path == "/dev/stderr") {
        return STDERR_FILENO;
    }
    for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
        if (path.starts_with(folder)) {
            const auto number = parse_count(path.substr(folder.size()));
            return number && *number <= INT_MAX ? std::optional{static_cast<int>(*number)} : std::nullopt;
        }
    }
    return std::nullopt;
}

// What the link `path` points at; empty when it is no link.
std::optional<std::string> followed(const std::string& path)
{
    std::array<char, PATH_MAX> target;
    const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
    if (length <= 0) {
        return std::nullopt;
    }
    std::string text{target.data(), static_cast<std::size_t>(length)};
    return text.front() == '/' ? text : parent_of(path) + "/" + text;
}

}  // namespace

bool OutputTarget::replaceable() const noexcept
{
    return !descriptor && (!existing || S_ISREG(existing->st_mode));
}

std::string OutputTarget::directory() const
{
    return parent_of(path);
}

base::Error io_error(std::string_view what, int errno_value, const std::string& where)
{
    base::Error error = base::os_error(what, errno_value, where);
    error.code = base::ErrorCode::io;
    return error;
}

base::Expected<OutputTarget> find_output_target(const std::string& path)
{
    OutputTarget target{path, as_descriptor(path), std::nullopt};
    if (target.descriptor) {
        return target;
    }
    for (int links = 0; const auto next = followed(target.path); ++links) {
        if (links == most_links) {
            return base::fail(io_error("cannot write", ELOOP, path));
        }
        target.path = *next;
    }
    if (target.path.empty() || target.path.ends_with('/')) {
        return base::fail(io_error("cannot write", target.path.empty() ? ENOENT : EISDIR, path));
    }
    struct stat found {};
    if (::stat(target.path.c_str(), &found) == 0) {
        target.existing = found;
    } else if (errno != ENOENT) {
        return base::fail(io_error("cannot write", errno, path));
    }
    if (target.existing && S_ISDIR(target.existing->st_mode)) {
        return base::fail(io_error("cannot write", EISDIR, path));
    }
    return target;
}

}  // namespace memsweep::sys
