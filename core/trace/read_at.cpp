#include "core/trace/trace_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/sys/output_target.hpp"
#include "core/sys/temp_file.hpp"
#include "core/sys/unique_fd.hpp"

namespace memsweep::trace {
namespace {

base::Expected<sys::UniqueFd> copy_of_pipe(int pipe, const std::string& name)
{
    std::FILE* const file = std::tmpfile();  // on disk: a trace may be larger than memory
    if (file == nullptr) {
        return base::fail(sys::io_error("cannot make a temporary file", errno, name));
    }
    sys::UniqueFd copy{::fcntl(::fileno(file), F_DUPFD_CLOEXEC, 0)};
    std::fclose(file);
    std::array<char, 64 << 10> piece{};
    for (;;) {
        const ssize_t got = ::read(pipe, piece.data(), piece.size());
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return base::fail(sys::io_error("cannot read", errno, name));
        }
        if (got == 0) {
            return copy;
        }
        if (const int problem = sys::write_all(copy.get(), {piece.data(), static_cast<std::size_t>(got)});
            problem != 0) {
            return base::fail(sys::io_error("cannot write to a temporary file", problem, name));
        }
    }
}

base::Expected<sys::UniqueFd> seekable(const std::string& path)
{
    sys::UniqueFd file{path == "-" ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY)};
    struct stat facts {};
    if (!file.valid() || ::fstat(file.get(), &facts) != 0) {
        return base::fail(sys::io_error("cannot open", errno, path));
    }
    if (S_ISDIR(facts.st_mode)) {
        return base::fail(sys::io_error("cannot read", EISDIR, path));
    }
    if (S_ISREG(facts.st_mode)) {
        return file;
    }
    return copy_of_pipe(file.get(), path);
}

}  // namespace

base::Expected<ReadAt> open_for_reading(const std::string& path)
{
    auto file = seekable(path);
    if (!file) {
        return base::fail(file.error());
    }
    const auto shared = std::make_shared<sys::UniqueFd>(*std::move(file));
    return [shared, path](std::uint64_t offset, std::span<std::uint8_t> into) -> base::Expected<std::size_t> {
        std::size_t done = 0;
        while (done < into.size()) {
            const ssize_t got =
                ::pread(shared->get(), into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
            if (got < 0 && errno == EINTR) {
                continue;
            }
            if (got < 0) {
                return base::fail(sys::io_error("cannot read", errno, path));
            }
            if (got == 0) {
                break;
            }
            done += static_cast<std::size_t>(got);
        }
        return done;
    };
}

ReadAt read_from_memory(std::span<const std::uint8_t> bytes)
{
    return [bytes](std::uint64_t offset, std::span<std::uint8_t> into) -> base::Expected<std::size_t> {
        if (offset >= bytes.size()) {
            return 0;
        }
        const std::size_t count = std::min<std::size_t>(into.size(), bytes.size() - static_cast<std::size_t>(offset));
        std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), count, into.begin());
        return count;
    };
}

}  // namespace memsweep::trace
